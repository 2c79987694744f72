/** Networks in tiers, such as FatTrees, leaf and spine, and trees: each tier is a row, its leaves at the bottom. */
import type { Point } from "./layout";

type Edges = readonly (readonly [string, string])[];

/** With fewer leaves there is nothing that rows would show. */
const LEAST_LEAVES = 3;
const numeric = new Intl.Collator("en", { numeric: true }).compare;
const DATAPATH_ID = /^[0-9a-f]{16}$/;
/** Datapath ids as the numbers that they are, names as people count. */
const byName = (a: string, b: string): number => (DATAPATH_ID.test(a) && DATAPATH_ID.test(b) ? (a < b ? -1 : a > b ? 1 : 0) : numeric(a, b));

/** Places in a square of side 1; null if the network has no tiers. O(nodes · log nodes + edges). */
export function layered(nodes: readonly string[], edges: Edges): Map<string, Point> | null {
  const beside = neighbours(nodes, edges);
  const tier = tiers(beside);
  if (!tier) return null;
  const top = Math.max(...tier.values());
  const rows = Array.from({ length: top + 1 }, (_, at) => [...nodes].filter((it) => tier.get(it) === at).sort(byName));
  const pods = podsOf(beside, tier, top);
  const places = new Map<string, Point>();
  rows.forEach((row, at) => {
    const order = at === top ? row : row.sort((a, b) => byName(pods.get(a) ?? "", pods.get(b) ?? "") || byName(a, b));
    spread(order, at === top ? null : pods).forEach((x, name) => places.set(name, { x, y: 1 - at / top }));
  });
  // The top stands above what it joins.
  if ((rows[top]?.length ?? 0) === 1) places.set(rows[top]?.[0] as string, { x: 0.5, y: 0 });
  return places;
}

function neighbours(nodes: readonly string[], edges: Edges): Map<string, Set<string>> {
  const beside = new Map(nodes.map((it) => [it, new Set<string>()]));
  for (const [a, b] of edges) {
    if (a === b || !beside.has(a) || !beside.has(b)) continue;
    beside.get(a)?.add(b);
    beside.get(b)?.add(a);
  }
  return beside;
}

/** The tier of each node: its distance from a leaf, of which each has the fewest neighbours. */
function tiers(beside: ReadonlyMap<string, ReadonlySet<string>>): Map<string, number> | null {
  const least = Math.min(...[...beside.values()].map((it) => it.size));
  const leaves = [...beside].filter(([, it]) => it.size === least).map(([name]) => name);
  if (least === 0 || leaves.length < LEAST_LEAVES || leaves.length === beside.size) return null;
  const tier = new Map(leaves.map((it) => [it, 0]));
  for (const node of tier.keys())
    for (const next of beside.get(node) ?? []) if (!tier.has(next)) tier.set(next, (tier.get(node) ?? 0) + 1);
  const fits = [...beside].every(([node, others]) => {
    const own = tier.get(node);
    if (own === undefined) return false;
    const down = [...others].filter((it) => tier.get(it) === own - 1).length;
    const level = [...others].some((it) => tier.get(it) === own);
    return !level && (own === 0 || down >= 2);
  });
  return fits ? tier : null;
}

/** Nodes that are joined below the top are one pod, which has the name of its first node. */
function podsOf(beside: ReadonlyMap<string, ReadonlySet<string>>, tier: ReadonlyMap<string, number>, top: number): Map<string, string> {
  const pods = new Map<string, string>();
  for (const first of [...beside.keys()].sort(byName)) {
    if (tier.get(first) === top || pods.has(first)) continue;
    const waiting = [first];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (pods.has(node) || tier.get(node) === top) continue;
      pods.set(node, first);
      waiting.push(...(beside.get(node) ?? []));
    }
  }
  return pods;
}

/** Evenly, with a gap of one place between pods of several nodes. */
function spread(row: readonly string[], pods: ReadonlyMap<string, string> | null): Map<string, number> {
  let at = 0;
  // Pods of one node need no gap to be told apart.
  const several = pods !== null && new Set(row.map((it) => pods.get(it))).size < row.length;
  const slots = row.map((name, index) => {
    const before = row[index - 1];
    const apart = pods !== null && before !== undefined && several && pods.get(before) !== pods.get(name);
    at += index === 0 ? 0.5 : apart ? 1.8 : 1;
    return [name, at] as const;
  });
  return new Map(slots.map(([name, slot]) => [name, slot / (at + 0.5)]));
}
