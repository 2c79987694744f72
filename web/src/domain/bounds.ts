/** What the network could carry between the ends of a transfer: over its widest path, and over all paths at once. */
import type { Transfer } from "./api";
import { byAddress } from "./overlay";
import { directionOf, type View } from "./view";

export interface Bounds {
  /** The most that any one path carries, in bits a second. */
  one: number;
  /** The greatest flow. */
  all: number;
}

/** Capacities from switch to switch, parallel links together and each by itself. */
type Network = Map<string, Map<string, { sum: number; widest: number }>>;

interface Known {
  /** The capacities that everything here is of. */
  signature: string;
  network: Network;
  bounds: Map<string, Bounds | null>;
}

let known: Known = { signature: "", network: new Map(), bounds: new Map() };
const signed = new WeakMap<View["links"], Known>();

/** Found once for each pair of ends, until a link comes, goes or changes. */
export function bounds(view: View, transfer: Transfer): Bounds | null {
  const hosts = byAddress(view);
  const ends = (of: "src" | "dst") =>
    [...new Set(transfer.streams.map((it) => hosts.get(it[of])?.at.dpid).filter((it) => it !== undefined))].sort();
  const [from, to] = directionOf(transfer) === "sent" ? [ends("src"), ends("dst")] : [ends("dst"), ends("src")];
  if (from.length === 0 || to.length === 0) return null;
  const { network, bounds } = of(view.links);
  const key = `${from.join(" ")} > ${to.join(" ")}`;
  const found = bounds.get(key);
  if (found !== undefined) return found;
  const fresh = from.some((it) => to.includes(it)) ? null : { one: widest(network, from, to), all: greatest(network, from, to) };
  bounds.set(key, fresh?.all ? fresh : null);
  return fresh?.all ? fresh : null;
}

function of(links: View["links"]): Known {
  const before = signed.get(links);
  if (before) return before;
  const signature = [...links].map(([port, it]) => `${port} ${it.dst.dpid} ${it.capacity_bps}`).join("\n");
  if (signature !== known.signature) known = { signature, network: capacities(links), bounds: new Map() };
  signed.set(links, known);
  return known;
}

function capacities(links: View["links"]): Network {
  const network: Network = new Map();
  for (const { src, dst, capacity_bps } of links.values()) {
    const out = network.get(src.dpid) ?? new Map<string, { sum: number; widest: number }>();
    const { sum, widest } = out.get(dst.dpid) ?? { sum: 0, widest: 0 };
    out.set(dst.dpid, { sum: sum + capacity_bps, widest: Math.max(widest, capacity_bps) });
    network.set(src.dpid, out);
  }
  return network;
}

/** Dijkstra 1959, by the narrowest link of a path. */
function widest(network: Network, from: readonly string[], to: readonly string[]): number {
  const width = new Map(from.map((it) => [it, Infinity]));
  const done = new Set<string>();
  for (;;) {
    let [next, most] = ["", 0];
    for (const [node, it] of width) if (!done.has(node) && it > most) [next, most] = [node, it];
    if (most === 0) return 0;
    if (to.includes(next)) return most;
    done.add(next);
    for (const [node, link] of network.get(next) ?? []) width.set(node, Math.max(width.get(node) ?? 0, Math.min(most, link.widest)));
  }
}

/** Edmonds and Karp 1972. */
function greatest(network: Network, from: readonly string[], to: readonly string[]): number {
  const left = new Map([...network].map(([node, out]) => [node, new Map([...out].map(([next, it]) => [next, it.sum]))]));
  const room = (a: string, b: string) => left.get(a)?.get(b) ?? 0;
  const add = (a: string, b: string, rate: number) => {
    const out = left.get(a) ?? new Map<string, number>();
    left.set(a, out.set(b, (out.get(b) ?? 0) + rate));
  };
  let sum = 0;
  for (;;) {
    const path = shortest(left, from, to);
    if (path.length === 0) return sum;
    const hops = path.slice(1).map((node, at) => [path[at] as string, node] as const);
    const rate = Math.min(...hops.map(([a, b]) => room(a, b)));
    for (const [a, b] of hops) {
      add(a, b, -rate);
      add(b, a, rate);
    }
    sum += rate;
  }
}

function shortest(left: ReadonlyMap<string, ReadonlyMap<string, number>>, from: readonly string[], to: readonly string[]): string[] {
  const before = new Map<string, string | null>(from.map((it) => [it, null]));
  const waiting = [...from];
  for (let at = 0; at < waiting.length; at += 1) {
    const node = waiting[at] as string;
    if (to.includes(node)) {
      const path = [node];
      for (let prior = before.get(node); prior != null; prior = before.get(prior)) path.unshift(prior);
      return path;
    }
    for (const [next, room] of left.get(node) ?? [])
      if (room > 0 && !before.has(next)) {
        before.set(next, node);
        waiting.push(next);
      }
  }
  return [];
}
