/** Paths that are looked at and carry nothing yet: those of an assignment, and the answers to a question for paths. */
import type { components } from "./schema";
import type { Stream } from "./api";
import { hostName } from "./names";
import type { View } from "./view";

export type Assignment = components["schemas"]["Assignment"];
export type PathSet = components["schemas"]["Paths"];

/** What its paths can carry together. */
export const availableOf = (it: Assignment): number => it.paths.reduce((sum, path) => sum + path.available_bps, 0);

/** What the map draws of a stream. */
export type Drawn = Pick<Stream, "id" | "src" | "dst" | "path"> & Partial<Pick<Stream, "ports" | "spray_paths">>;

export const ofAssignment = ({ src, dst, paths }: Assignment): Drawn[] => paths.map(({ switches }, id) => ({ id: id + 1, src, dst, path: switches }));

/** From host to host where hosts were asked about. */
export const ofPaths = (view: View, { src, dst, paths }: PathSet): Drawn[] =>
  paths.map(({ links }, id) => ({
    id: id + 1,
    src: addressOf(view, src),
    dst: addressOf(view, dst),
    path: [src.dpid, ...links.map((it) => it.dst.dpid)],
    ports: links.map((it) => ({ dpid: it.src.dpid, port: it.src.port })),
  }));

/** The address of the host that was asked about, by whatever it was called; a switch has none. */
function addressOf(view: View, { name, dpid }: PathSet["src"]): string {
  const called = (it: string) => it.toLowerCase() === name.toLowerCase();
  const host = [...view.hosts.values()].find((it) => it.at.dpid === dpid && [it.mac, hostName(it), ...it.addresses].some(called));
  return host?.addresses[0] ?? "";
}

/** What is asked for; it stands in the address of the page. */
export interface Query {
  src: string;
  dst: string;
  mode: string;
  k: string;
  weight: string;
}

export const MODES: Readonly<Record<string, string>> = {
  shortest: "of the least cost",
  ksp: "the k best, which may share links",
  disjoint: "without a common link",
  "node-disjoint": "without a common switch",
  maxflow: "that carry most together",
  widest: "with the most room on each",
};
export const WEIGHTS: Readonly<Record<string, string>> = { hops: "number of links", latency: "latency", load: "load" };

const FIRST: Query = { src: "", dst: "", mode: "disjoint", k: "4", weight: "hops" };

export function readQuery(id: string): Query {
  const fields = Object.fromEntries(new URLSearchParams(id));
  const query = { ...FIRST, ...fields };
  return { ...query, mode: query.mode in MODES ? query.mode : FIRST.mode, weight: query.weight in WEIGHTS ? query.weight : FIRST.weight };
}

export const writeQuery = (query: Query): string => new URLSearchParams({ ...query }).toString();

/** A question that begins there. */
export const fromNode = (src: string): string => writeQuery({ ...FIRST, src });

/** What the answer means, in sentences. */
export function told(set: PathSet): string[] {
  const least = set.paths.filter((it) => it.shared_links > 0).length;
  return [
    ...(set.explanation ? [`No path: ${set.explanation}.`] : []),
    ...(set.paths.length > 0 && set.paths.length < set.k && set.mode !== "maxflow" ? [`${set.paths.length} of ${set.k}: there are no more of this kind.`] : []),
    ...(set.truncated ? ["There are more than were asked for."] : []),
    ...(set.complete ? [] : ["The search was not completed: there may be better ones."]),
    ...(least > 0 ? [`${least} of them ${least === 1 ? "shares" : "share"} links with better ones.`] : []),
    ...set.warnings.map((it) => `Note: ${it}.`),
  ];
}
