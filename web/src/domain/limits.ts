/** What limits a transfer: the fullest links of its paths. */
import type { Link, Stream, Transfer } from "./api";
import { load } from "./overlay";
import { directionOf, pathsOf, portName, type Direction, type View } from "./view";
import { wiring } from "./wiring";

/** A link with a higher load has no room left. */
const FULL = 0.9;

/** The links of all paths of a transfer in the direction in which it carries most, each once. */
export function linksOf(view: View, transfer: Transfer): Link[] {
  const direction = directionOf(transfer);
  return [...new Set(transfer.streams.flatMap((it) => pathLinks(view, it, direction)).flat())];
}

/** The links of each path of a stream; by ports where these are known, as several links may join the same two switches. */
export function pathLinks(view: View, stream: Stream, direction: Direction): Link[][] {
  const back = (link: Link) => view.links.get(portName(link.dst));
  const forward = portsOf(view, stream).map((ports) => ports.map((it) => view.links.get(it)).filter((it) => it !== undefined));
  if (direction === "sent") return forward;
  return forward.map((path) => path.map(back).filter((it) => it !== undefined));
}

function portsOf(view: View, stream: Stream): string[][] {
  if (stream.spray_paths?.length) return stream.spray_paths.map((it) => (it.ports.length ? it.ports.map(portName) : hops(view, it.path)));
  if (stream.ports?.length) return [stream.ports.map(portName)];
  return pathsOf(stream).map((it) => hops(view, it));
}

/** The port of the widest link between each two switches of a path. */
function hops(view: View, path: readonly string[]): string[] {
  const { out } = wiring(view.links);
  return path.slice(1).flatMap((to, at) => out.get(path[at] as string)?.get(to)?.port ?? []);
}

/** The links that have no room left, the fullest first. */
export function bottlenecks(view: View, transfer: Transfer): Link[] {
  const full = linksOf(view, transfer).filter((it) => (load(it) ?? 0) >= FULL);
  return full.sort((a, b) => (load(b) ?? 0) - (load(a) ?? 0));
}

/** The transfers that use a link in either direction. */
export function usersOf(view: View, link: Pick<Link, "src" | "dst">): Transfer[] {
  const ends = new Set([portName(link.src), portName(link.dst)]);
  const uses = (it: Transfer) => it.streams.some((stream) => pathLinks(view, stream, "sent").flat().some((hop) => ends.has(portName(hop.src))));
  return [...view.transfers.values()].filter(uses);
}
