/** What the network could carry between the ends of a transfer: over its widest path, and over all paths at once. */
import type { Transfer } from "./api";
import { byAddress } from "./overlay";
import { directionOf, type View } from "./view";
import { wiring, type Wiring } from "./wiring";

export interface Bounds {
  /** The most that any one path carries, in bits a second. */
  one: number;
  /** The greatest flow. */
  all: number;
}

/** Directed links that searches look at for one view, some tens of milliseconds: what is not found by then is looked for with the next view. */
const MAX_STEPS = 500_000;

/** What is known of a state of the links, by both ends. */
const found = new WeakMap<Wiring, Map<string, Bounds | null>>();
const steps = new WeakMap<View, { left: number }>();

/** Found once for each pair of ends, until a link comes, goes or changes; null also while it is not known yet. */
export function bounds(view: View, transfer: Transfer): Bounds | null {
  const hosts = byAddress(view.hosts);
  const ends = (of: "src" | "dst") =>
    [...new Set(transfer.streams.map((it) => hosts.get(it[of])?.at.dpid).filter((it) => it !== undefined))].sort();
  const [from, to] = directionOf(transfer) === "sent" ? [ends("src"), ends("dst")] : [ends("dst"), ends("src")];
  if (from.length === 0 || to.length === 0) return null;
  const network = wiring(view.links);
  const key = `${from.join(" ")} > ${to.join(" ")}`;
  const known = found.get(network) ?? new Map<string, Bounds | null>();
  found.set(network, known);
  const before = known.get(key);
  if (before !== undefined) return before;
  const budget = steps.get(view) ?? { left: MAX_STEPS };
  steps.set(view, budget);
  if (budget.left <= 0) return null;
  const fresh = from.some((it) => to.includes(it)) ? null : search({ network, from, to, budget });
  known.set(key, fresh);
  return fresh;
}

interface Problem {
  network: Wiring;
  from: readonly string[];
  to: readonly string[];
  budget: { left: number };
}

function search(problem: Problem): Bounds | null {
  const all = greatest(problem);
  return all > 0 ? { one: widest(problem), all } : null;
}

/** Dijkstra 1959, by the narrowest link of a path. */
function widest({ network: { out }, from, to, budget }: Problem): number {
  const width = new Map(from.map((it) => [it, Infinity]));
  const done = new Set<string>();
  // Few links differ in capacity: nodes wait by the width with which they were reached, the widest first.
  const waiting = new Map<number, string[]>([[Infinity, [...from]]]);
  while (waiting.size > 0) {
    const most = Math.max(...waiting.keys());
    const node = waiting.get(most)?.pop();
    if (node === undefined) waiting.delete(most);
    if (node === undefined || done.has(node)) continue;
    if (to.includes(node)) return most;
    done.add(node);
    for (const [next, link] of out.get(node) ?? []) {
      budget.left -= 1;
      const reached = Math.min(most, link.widest);
      if (reached <= (width.get(next) ?? 0)) continue;
      width.set(next, reached);
      const alike = waiting.get(reached);
      if (alike) alike.push(next);
      else waiting.set(reached, [next]);
    }
  }
  return 0;
}

/** What was taken of links, and given back against their direction. */
type Taken = Map<string, Map<string, number>>;

/** Edmonds and Karp 1972; over when the links at either end are full. */
function greatest(problem: Problem): number {
  const { network, from, to } = problem;
  const sumOf = (nodes: readonly string[], of: (node: string) => number) => nodes.reduce((sum, it) => sum + of(it), 0);
  const leaves = (node: string) => [...(network.out.get(node)?.values() ?? [])].reduce((sum, it) => sum + it.sum, 0);
  const most = Math.min(sumOf(from, leaves), sumOf(to, (it) => network.into.get(it) ?? 0));
  const taken: Taken = new Map();
  let sum = 0;
  while (sum < most) {
    const path = shortest(problem, taken);
    if (path.length === 0) return sum;
    sum += take(network, taken, path);
  }
  return sum;
}

const room = ({ out }: Wiring, taken: Taken, a: string, b: string): number => (out.get(a)?.get(b)?.sum ?? 0) - (taken.get(a)?.get(b) ?? 0);

/** As much as the path carries. */
function take(network: Wiring, taken: Taken, path: readonly string[]): number {
  const hops = path.slice(1).map((node, at) => [path[at] as string, node] as const);
  const rate = Math.min(...hops.map(([a, b]) => room(network, taken, a, b)));
  const add = (a: string, b: string, more: number) => {
    const of = taken.get(a) ?? new Map<string, number>();
    taken.set(a, of.set(b, (of.get(b) ?? 0) + more));
  };
  for (const [a, b] of hops) {
    add(a, b, rate);
    add(b, a, -rate);
  }
  return rate;
}

function shortest({ network, from, to, budget }: Problem, taken: Taken): string[] {
  const before = new Map<string, string | null>(from.map((it) => [it, null]));
  const waiting = [...from];
  const reach = (node: string, next: string) => {
    budget.left -= 1;
    if (before.has(next) || room(network, taken, node, next) <= 0) return;
    before.set(next, node);
    waiting.push(next);
  };
  for (let at = 0; at < waiting.length; at += 1) {
    const node = waiting[at] as string;
    if (to.includes(node)) return back(before, node);
    for (const next of network.out.get(node)?.keys() ?? []) reach(node, next);
    // Against links that lead one way only.
    for (const next of taken.get(node)?.keys() ?? []) reach(node, next);
  }
  return [];
}

function back(before: ReadonlyMap<string, string | null>, end: string): string[] {
  const path = [end];
  for (let prior = before.get(end); prior != null; prior = before.get(prior)) path.unshift(prior);
  return path;
}
