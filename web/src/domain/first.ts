/** The first items in an order. */

/** What sorting and cutting gives, those that are alike in their own order, without sorting all: O(items · log most). */
export function first<T>(items: Iterable<T>, most: number, order: (a: T, b: T) => number): T[] {
  const found: T[] = [];
  for (const item of items) {
    const last = found[most - 1];
    if (last !== undefined && order(last, item) <= 0) continue;
    found.splice(placeOf(found, item, order), 0, item);
    if (found.length > most) found.pop();
  }
  return found;
}

/** Behind those that are before it or alike. */
function placeOf<T>(sorted: readonly T[], item: T, order: (a: T, b: T) => number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (order(sorted[middle] as T, item) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first by a name, as people count: of thousands, each name is made once. */
export function firstByName<T>(items: Iterable<T>, most: number, name: (item: T) => string): T[] {
  const named = function* () {
    for (const item of items) yield { name: name(item), item };
  };
  return first(named(), most, (a, b) => byName(a.name, b.name)).map((it) => it.item);
}

const byName = new Intl.Collator("en", { numeric: true }).compare;
