/** Large networks, of which groups of switches are drawn as one. */
import type { Link } from "./api";
import { dpid as short } from "./format";
import type { MapLink } from "./overlay";

interface Grouped {
  dpid: string;
  group?: string | null;
}

/** Networks with no more switches are drawn as they are. */
export const MAX_SWITCHES = 40;
/** Of larger networks, switches without a group are folded, too: so many of them, in the order of their datapath ids. */
const MAX_UNGROUPED = 400;
const BLOCK = 64;
/** What stands in front of the name of a group, so that none is taken for a switch. */
const MARK = "group ";

/** What a switch is drawn as: itself, or its group. */
export type Fold = ReadonlyMap<string, string>;

/** Groups of more than one switch, but for those that are `open`; nothing is folded in a small network. */
export function fold(switches: ReadonlyMap<string, Grouped>, open: ReadonlySet<string>): Fold {
  const sizes = new Map<string, number>();
  for (const { group } of switches.values()) if (group) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const folds = switches.size > MAX_SWITCHES;
  const grouped = ({ group }: Grouped) => (group && (sizes.get(group) ?? 0) > 1 ? group : undefined);
  const blocks = blocked([...switches.values()].filter((it) => !grouped(it)));
  return new Map(
    [...switches.values()].map((it) => {
      const group = folds ? (grouped(it) ?? blocks.get(it.dpid)) : undefined;
      return [it.dpid, group && !open.has(group) ? MARK + group : it.dpid] as const;
    }),
  );
}

/** Names of groups of switches that have none, if they are too many to be drawn. */
function blocked(switches: readonly Grouped[]): ReadonlyMap<string, string> {
  if (switches.length <= MAX_UNGROUPED) return new Map();
  const ids = switches.map((it) => it.dpid).sort();
  const name = (at: number) => `${short(ids[at] as string)} – ${short(ids[Math.min(at + BLOCK, ids.length) - 1] as string)}`;
  return new Map(ids.map((id, at) => [id, name(at - (at % BLOCK))]));
}

export const isGroup = (node: string): boolean => node.startsWith(MARK);
export const groupName = (node: string): string => node.slice(MARK.length);

/** What a switch is drawn as; one that is not there, as itself. */
export const nodeOf = (fold: Fold, dpid: string): string => fold.get(dpid) ?? dpid;

/** The switches of each group that is drawn as one. */
export function members(fold: Fold): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [dpid, node] of fold) {
    if (node === dpid) continue;
    const others = found.get(node);
    if (others) others.push(dpid);
    else found.set(node, [dpid]);
  }
  return found;
}

/** The links between what is drawn: of two groups one, with the load of the busiest; failed if all are. */
export function folded(links: readonly MapLink[], fold: Fold): MapLink[] {
  const found = new Map<string, MapLink & { directed: Link[] }>();
  for (const link of links) {
    const [a, b] = [nodeOf(fold, link.ends[0]), nodeOf(fold, link.ends[1])];
    if (a === b) continue;
    const ends: [string, string] = a < b ? [a, b] : [b, a];
    const key = isGroup(a) || isGroup(b) ? ends.join(" ") : link.key;
    const before = found.get(key);
    if (before) add(before, link);
    else found.set(key, { ...link, key, ends, directed: [...link.directed] });
  }
  return [...found.values()];
}

function add(one: MapLink & { directed: Link[] }, other: MapLink): void {
  one.directed.push(...other.directed);
  one.failed &&= other.failed;
  if (other.load !== null && (one.load === null || other.load > one.load)) one.load = other.load;
}

/** A path between what is drawn. */
export const foldedPath = (path: readonly string[], fold: Fold): string[] =>
  path.map((it) => nodeOf(fold, it)).filter((it, at, all) => it !== all[at - 1]);
