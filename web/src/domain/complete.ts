/** What may follow in a filter: names of fields, then their values. */

const MAX_SUGGESTIONS = 8;
/** Items that are looked at: of thousands, the first show what fields there are. */
export const MAX_ITEMS = 200;
const MAX_DEPTH = 4;

/** The whole text with each of the endings of its last word that make sense for the items. */
export function complete(text: string, items: readonly unknown[]): string[] {
  const [, before = "", minus = "", word = ""] = /^(.*?)(-?)(\S*)$/su.exec(text) ?? [];
  if (before.split('"').length % 2 === 0) return [];
  const parts = /^([A-Za-z0-9_.-]+)(!=|>=|<=|=|~|<|>)(.*)$/u.exec(word);
  const words = parts ? values(items, parts[1] as string, parts[3] as string).map((it) => `${parts[1]}${parts[2]}${it}`) : fields(items, word);
  return words.filter((it) => it !== word).slice(0, MAX_SUGGESTIONS).map((it) => `${before}${minus}${it}`);
}

function fields(items: readonly unknown[], start: string): string[] {
  if (start === "") return [];
  const names = new Set<string>();
  for (const item of items.slice(0, MAX_ITEMS)) walk(item, (name) => names.add(name));
  return [...names].filter((it) => it.startsWith(start)).sort().map((it) => `${it}=`);
}

function values(items: readonly unknown[], field: string, start: string): string[] {
  const found = new Set<string>();
  const last = field.split(".").at(-1);
  for (const item of items.slice(0, MAX_ITEMS)) walk(item, (name, value) => name === last && found.add(value));
  const fits = [...found].filter((it) => it.toLowerCase().startsWith(start.replace(/^"/, "").toLowerCase()));
  return fits.sort().map((it) => (/\s/.test(it) ? `"${it}"` : it));
}

function walk(value: unknown, visit: (name: string, value: string) => void, name = "", depth = 0): void {
  if (depth > MAX_DEPTH) return;
  if (Array.isArray(value)) value.forEach((it) => walk(it, visit, name, depth + 1));
  else if (typeof value === "object" && value !== null)
    for (const [key, item] of Object.entries(value)) walk(item, visit, key, depth + 1);
  else if (name !== "") visit(name, String(value));
}
