/** Networks in tiers, such as FatTrees, leaf and spine, and trees: each tier is a row, or several if it is long, its leaves at the bottom. */
import type { Point } from "./layout";

type Edges = readonly (readonly [string, string])[];

/** With fewer leaves there is nothing that rows would show. */
const LEAST_LEAVES = 3;
/** From tier to tier, in rows. */
const TIER_GAP = 2.5;
const numeric = new Intl.Collator("en", { numeric: true }).compare;
const DATAPATH_ID = /^[0-9a-f]{16}$/;
/** Datapath ids as the numbers that they are, names as people count. */
const byName = (a: string, b: string): number => (DATAPATH_ID.test(a) && DATAPATH_ID.test(b) ? (a < b ? -1 : a > b ? 1 : 0) : numeric(a, b));

export interface Layers {
  /** In a square of side 1. */
  places: ReadonlyMap<string, Point>;
  rows: number;
  /** Whether there are tiers of several rows. */
  wrapped: boolean;
}

/** Rows of at most so many nodes; null if the network has no tiers. O(nodes · log nodes + edges). */
export function layered(nodes: readonly string[], edges: Edges, most = Infinity): Layers | null {
  const beside = neighbours(nodes, edges);
  const tier = tiers(beside);
  if (!tier) return null;
  const top = Math.max(...tier.values());
  const all = Array.from({ length: top + 1 }, (_, at) => [...nodes].filter((it) => tier.get(it) === at).sort(byName));
  const pods = podsOf(beside, tier, top);
  const places = new Map<string, Point>();
  const rows = all.flatMap((row, at) => {
    const order = at === top ? row : row.sort((a, b) => byName(pods.get(a) ?? "", pods.get(b) ?? "") || byName(a, b));
    const parts = wrapped(order, most);
    return parts.map((part, nth) => ({ places: parts.length > 1 ? grid(part, most) : spread(part, at === top ? null : pods), gap: nth > 0 || at === 0 ? 1 : TIER_GAP }));
  });
  let height = -1;
  const heights = rows.map(({ gap }) => (height += gap));
  rows.forEach((row, at) => row.places.forEach((x, name) => places.set(name, { x, y: 1 - (heights[at] as number) / height })));
  // The top stands above what it joins.
  if ((all[top]?.length ?? 0) === 1) places.set(all[top]?.[0] as string, { x: 0.5, y: 0 });
  return { places, rows: rows.length, wrapped: rows.length > all.length };
}

/** A tier in parts, the last one first: rows are read from above, and stacked from below. */
function wrapped(row: readonly string[], most: number): string[][] {
  const count = Math.ceil(row.length / most) || 1;
  return Array.from({ length: count }, (_, at) => (count > 1 ? row.slice(at * most, (at + 1) * most) : [...row])).reverse();
}

const grid = (row: readonly string[], columns: number): Map<string, number> => new Map(row.map((name, at) => [name, (at + 0.5) / columns]));

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
