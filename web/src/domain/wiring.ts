/** What of the links of a network changes only when a link comes, goes, or has another capacity: loads change each second. */
import type { Link } from "./api";
import type { View } from "./view";

/** All links from one switch to another. */
export interface Joint {
  /** What they carry together, in bits a second. */
  sum: number;
  widest: number;
  /** The port by which the widest leaves. */
  port: string;
}

export interface Wiring {
  /** From each switch to each that it is joined with. */
  out: ReadonlyMap<string, ReadonlyMap<string, Joint>>;
  /** What all links to a switch carry together. */
  into: ReadonlyMap<string, number>;
}

type Links = View["links"];

let last: { links: Links; wiring: Wiring } = { links: new Map(), wiring: { out: new Map(), into: new Map() } };
const known = new WeakMap<Links, Wiring>();

/** Found once for each state of the links, and the same as before while they only carry more or less. */
export function wiring(links: Links): Wiring {
  const before = known.get(links);
  if (before) return before;
  const found = alike(last.links, links) ? last.wiring : wire(links);
  last = { links, wiring: found };
  known.set(links, found);
  return found;
}

function alike(before: Links, links: Links): boolean {
  if (before.size !== links.size) return false;
  for (const [port, it] of links) {
    const other = before.get(port);
    if (other !== it && !(other && other.dst.dpid === it.dst.dpid && other.capacity_bps === it.capacity_bps)) return false;
  }
  return true;
}

function wire(links: Links): Wiring {
  const out = new Map<string, Map<string, Joint>>();
  const into = new Map<string, number>();
  for (const [port, it] of links) {
    const [from, to] = [it.src.dpid, it.dst.dpid];
    const joints = out.get(from) ?? new Map<string, Joint>();
    out.set(from, joints.set(to, joined(joints.get(to), port, it)));
    into.set(to, (into.get(to) ?? 0) + it.capacity_bps);
  }
  return { out, into };
}

function joined(before: Joint | undefined, port: string, { capacity_bps }: Link): Joint {
  if (!before) return { sum: capacity_bps, widest: capacity_bps, port };
  const sum = before.sum + capacity_bps;
  return capacity_bps > before.widest ? { sum, widest: capacity_bps, port } : { ...before, sum };
}
