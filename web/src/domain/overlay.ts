import type { Host, Link, Stream, Transfer } from "./api";
import { first } from "./first";
import { directionOf, pathsOf, portName, type Direction, type View } from "./view";
import { wiring } from "./wiring";

const addressed = new WeakMap<View["hosts"], ReadonlyMap<string, Host>>();

/** The hosts by their IP addresses; found once for each state of the hosts. */
export function byAddress(hosts: View["hosts"]): ReadonlyMap<string, Host> {
  const known = addressed.get(hosts);
  if (known) return known;
  const found = new Map<string, Host>();
  for (const host of hosts.values()) for (const address of host.addresses) found.set(address, host);
  addressed.set(hosts, found);
  return found;
}

/** The two directions of a link, once, with the busier of both loads. */
export interface MapLink {
  key: string;
  ends: readonly [string, string];
  /** The share of the capacity in use; null while it is not known. */
  load: number | null;
  directed: readonly Link[];
  failed: boolean;
}

/** A link by both its ports, whichever its direction. */
export function linkKey({ src, dst }: Pick<Link, "src" | "dst">): string {
  const [a, b] = [portName(src), portName(dst)];
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}

const known = new WeakMap<View, MapLink[]>();

/** The links of a view as the map has them; found once for each view. */
export function mapLinks(view: View): MapLink[] {
  const found = known.get(view) ?? findLinks(view);
  known.set(view, found);
  return found;
}

function findLinks(view: View): MapLink[] {
  const found = new Map<string, Link[]>();
  const add = (link: Link) => {
    const key = linkKey(link);
    const either = found.get(key);
    if (either) either.push(link);
    else found.set(key, [link]);
  };
  for (const link of view.links.values()) add(link);
  const up = found.size;
  for (const link of view.failed.values()) add(link);
  return [...found].map(([key, either], nth) => mapLink(key, either, nth >= up));
}

function mapLink(key: string, either: Link[], failed: boolean): MapLink {
  // A link has one name, whichever direction was found first.
  if (either.length > 1) either.sort((a, b) => (portName(a.src) < portName(b.src) ? -1 : 1));
  const [one] = either as [Link, ...Link[]];
  const [a, b] = [one.src.dpid, one.dst.dpid];
  return { key, ends: a < b ? [a, b] : [b, a], directed: either, load: busiest(either), failed };
}

function busiest(links: readonly Link[]): number | null {
  let most: number | null = null;
  for (const link of links) {
    const own = load(link);
    if (own !== null && (most === null || own > most)) most = own;
  }
  return most;
}

/** The share of a link's capacity in use. */
export const load = (link: Link): number | null =>
  link.load_bps == null || link.capacity_bps === 0 ? null : link.load_bps / link.capacity_bps;

/** Links that are down first, then those that lose frames, then the others: the busiest of them where there are more than `most`. */
export function urgent(view: View, links: readonly Link[], most: number): readonly Link[] {
  const rank = (it: Link) => (view.failed.has(portName(it.src)) ? 0 : it.degraded ? 1 : 2);
  const busy = links.length > most;
  const order = (a: Link, b: Link) => rank(a) - rank(b) || (busy ? (b.load_bps ?? 0) - (a.load_bps ?? 0) : 0);
  return first(links, most, order);
}

/** The hops of each path: by their ports where these are known, so that parallel links stay apart. */
function hopsOf(view: View, stream: Stream, direction: Direction): string[][] {
  const back = (port: string) => portName(view.links.get(port)?.dst ?? { dpid: "", port: 0 });
  const turned = (port: string) => (direction === "sent" ? port : back(port));
  if (stream.spray_paths?.length && stream.spray_paths.every((it) => it.ports.length > 0))
    return stream.spray_paths.map((it) => it.ports.map(portName).map(turned));
  return pathsOf(stream).map((path) => path.slice(1).map((to, at) => (direction === "sent" ? `${path[at]} ${to}` : `${to} ${path[at]}`)));
}

/** What the paths of a transfer can carry together, in the direction in which it carries most: each link counted once, each path at its narrowest. */
export function capacity(view: View, transfer: Transfer): number | null {
  const { out } = wiring(view.links);
  const widest = (hop: string) => {
    const [from = "", to = ""] = hop.split(" ");
    return out.get(from)?.get(to)?.widest;
  };
  const left = new Map<string, number>();
  const room = (hop: string) => left.get(hop) ?? view.links.get(hop)?.capacity_bps ?? widest(hop) ?? 0;
  const direction = directionOf(transfer);
  let sum = 0;
  for (const hops of transfer.streams.flatMap((it) => hopsOf(view, it, direction))) {
    if (hops.length === 0) continue;
    const rate = Math.min(...hops.map(room));
    for (const hop of hops) left.set(hop, room(hop) - rate);
    sum += rate;
  }
  return sum > 0 ? sum : null;
}
