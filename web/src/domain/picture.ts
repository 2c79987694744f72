/** The geometry of the map: where hosts stand, how links are drawn, which way streams go. */
import type { Host } from "./api";
import { foldedPath, nodeOf, type Fold } from "./fold";
import type { Point } from "./layout";
import { hostKey } from "./names";
import { byAddress, linkKey, type MapLink } from "./overlay";
import type { Drawn } from "./sketch";
import { ribbons, type Drawing, type Ribbon, type Stop } from "./ribbons";
import { portName, type View } from "./view";

const HOST_DISTANCE = 42;
const HOST_ANGLE = 0.65;
/** Between parallel links. */
const PARALLEL = 11;
/** The width of a ribbon, and of all ribbons on a link. */
const RIBBON = 4.5;
const MOST_RIBBONS = 27;

/** Hosts stand around their switch, away from the middle of the picture; below it where the network has tiers. One at several switches stands between them. */
export function hostPlaces(hostsAt: ReadonlyMap<string, readonly Host[]>, place: (node: string) => Point, middle: Point, below: boolean): Map<string, Point> {
  const found = between(hostsAt, place, middle);
  for (const [node, all] of hostsAt) {
    const hosts = all.filter((it) => !found.has(it.mac));
    const at = place(node);
    const outward = below ? Math.PI / 2 : Math.atan2(at.y - middle.y, at.x - middle.x || 1e-9);
    hosts.forEach((host, nth) => {
      const angle = outward + (nth - (hosts.length - 1) / 2) * HOST_ANGLE;
      found.set(host.mac, { x: at.x + HOST_DISTANCE * Math.cos(angle), y: at.y + HOST_DISTANCE * Math.sin(angle) });
    });
  }
  return found;
}

/** The places of hosts with interfaces at several switches. */
function between(hostsAt: ReadonlyMap<string, readonly Host[]>, place: (node: string) => Point, middle: Point): Map<string, Point> {
  const interfaces = [...hostsAt].flatMap(([node, hosts]) => hosts.map((host) => ({ host, node })));
  const found = new Map<string, Point>();
  for (const own of Map.groupBy(interfaces, (it) => hostKey(it.host)).values()) {
    const nodes = [...new Set(own.map((it) => it.node))].map(place);
    if (nodes.length < 2) continue;
    const mean = (of: (it: Point) => number) => nodes.reduce((sum, it) => sum + of(it), 0) / nodes.length;
    const at = { x: mean((it) => it.x), y: mean((it) => it.y) };
    const outward = Math.atan2(at.y - middle.y, at.x - middle.x || 1e-9);
    const point = { x: at.x + HOST_DISTANCE * Math.cos(outward), y: at.y + HOST_DISTANCE * Math.sin(outward) };
    for (const { host } of own) found.set(host.mac, point);
  }
  return found;
}

export interface Line {
  link: MapLink;
  from: Point;
  to: Point;
  /** At right angles to the line, of length 1. */
  side: Point;
  /** How far it lies beside the straight line between its ends, since others join the same two. */
  shift: number;
}

export function linesOf(links: readonly MapLink[], place: (node: string) => Point): Line[] {
  const seen = new Map<string, number>();
  return links.map((link) => {
    const pair = link.ends.join(" ");
    const nth = seen.get(pair) ?? 0;
    seen.set(pair, nth + 1);
    const [a, b] = [place(link.ends[0]), place(link.ends[1])];
    const length = Math.max(1, Math.hypot(b.x - a.x, b.y - a.y));
    const side = { x: -(b.y - a.y) / length, y: (b.x - a.x) / length };
    const shift = Math.ceil(nth / 2) * (nth % 2 ? PARALLEL : -PARALLEL);
    const moved = (it: Point) => ({ x: it.x + side.x * shift, y: it.y + side.y * shift });
    return { link, from: moved(a), to: moved(b), side, shift };
  });
}

export interface StreamLine {
  key: string;
  stream: Drawn;
  /** By it, the stream has its colour. */
  place: number;
  path: string[];
  /** The links that it takes, by the keys of the map's. */
  links: readonly string[];
  points: Point[];
}

/** Half of what the ribbons on each link take: its two directions are drawn beside them. */
export function spreads(streams: readonly StreamLine[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { links } of streams) for (const link of new Set(links)) counts.set(link, (counts.get(link) ?? 0) + 1);
  return new Map([...counts].map(([link, count]) => [link, Math.min(count * RIBBON, MOST_RIBBONS) / 2]));
}

interface Scene {
  view: View;
  folds: Fold;
  lines: readonly Line[];
  place: (node: string) => Point;
  /** Where each host is drawn, if it is. */
  hosts: ReadonlyMap<string, Point>;
  radius: number;
}

/** The paths of all streams of a transfer, or such as are looked at, side by side where they share a link. */
export function streamLines(streams: readonly Drawn[], scene: Scene): StreamLine[] {
  const addresses = byAddress(scene.view.hosts);
  const shifts = new Map(scene.lines.map((it) => [it.link.key, it.shift]));
  const first = new Map<string, string>();
  for (const { link } of scene.lines) if (!first.has(link.ends.join(" "))) first.set(link.ends.join(" "), link.key);
  const end = (address: string): Stop[] => {
    const host = addresses.get(address);
    const at = host && scene.hosts.get(host.mac);
    return host && at ? [{ name: `host ${host.mac}`, at }] : [];
  };
  const lines = streams.flatMap((stream, index) =>
    pathsWithPorts(stream).map(({ path, ports }, nth) => {
      const nodes = foldedPath(path, scene.folds).map((name): Stop => ({ name, at: scene.place(name) }));
      const exact = nodes.length === path.length ? ports : [];
      const stops = [...end(stream.src), ...nodes, ...end(stream.dst)];
      const before = stops.length > 0 && stops[0]?.name.startsWith("host ") ? 1 : 0;
      const links = stops.slice(1).map((to, at) => keyOf(scene, exact[at - before], stops[at] as Stop, to, first));
      // The paths of a stream that is sprayed have colours of their own, as with the edges.
      return { stream, path, place: stream.spray_paths?.length ? nth : index, ribbon: { key: `${stream.id} ${nth}`, stops, links } satisfies Ribbon };
    }),
  );
  const drawing: Drawing = { shift: (it) => shifts.get(it) ?? 0, step: RIBBON, most: MOST_RIBBONS, radius: scene.radius };
  const points = ribbons(lines.map((it) => it.ribbon), drawing);
  return lines.map(({ ribbon, ...rest }) => ({ ...rest, key: ribbon.key, links: ribbon.links, points: points.get(ribbon.key) ?? [] }));
}

type Ports = readonly { dpid: string; port: number }[];

function pathsWithPorts(stream: Drawn): { path: string[]; ports: Ports }[] {
  if (stream.spray_paths?.length) return stream.spray_paths;
  return stream.path.length ? [{ path: stream.path, ports: stream.ports ?? [] }] : [];
}

function keyOf(scene: Scene, port: Ports[number] | undefined, from: Stop, to: Stop, first: ReadonlyMap<string, string>): string {
  const link = port && scene.view.links.get(portName(port));
  if (link) return linkKey(link);
  const pair = [from.name, to.name].sort().join(" ");
  return first.get(pair) ?? pair;
}

/** What a switch and its hosts are drawn as. */
export const hostsByNode = (hosts: View["hosts"], folds: Fold): Map<string, Host[]> =>
  Map.groupBy(hosts.values(), (host) => nodeOf(folds, host.at.dpid));
