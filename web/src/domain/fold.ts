/** Large networks, of which groups of switches are drawn as one. */
import type { MapLink } from "./overlay";

interface Grouped {
  dpid: string;
  group?: string | null;
}

/** Networks with no more switches are drawn as they are. */
export const MAX_SWITCHES = 40;
/** What stands in front of the name of a group, so that none is taken for a switch. */
const MARK = "group ";

/** What a switch is drawn as: itself, or its group. */
export type Fold = ReadonlyMap<string, string>;

/** Groups of more than one switch, but for those that are `open`; nothing is folded in a small network. */
export function fold(switches: ReadonlyMap<string, Grouped>, open: ReadonlySet<string>): Fold {
  const sizes = new Map<string, number>();
  for (const { group } of switches.values()) if (group) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const folds = switches.size > MAX_SWITCHES;
  return new Map(
    [...switches.values()].map(({ dpid, group }) => {
      const folded = folds && group && (sizes.get(group) ?? 0) > 1 && !open.has(group);
      return [dpid, folded ? MARK + group : dpid] as const;
    }),
  );
}

export const isGroup = (node: string): boolean => node.startsWith(MARK);
export const groupName = (node: string): string => node.slice(MARK.length);

/** What a switch is drawn as; one that is not there, as itself. */
export const nodeOf = (fold: Fold, dpid: string): string => fold.get(dpid) ?? dpid;

/** The links between what is drawn: of two groups one, with the load of the busiest; failed if all are. */
export function folded(links: readonly MapLink[], fold: Fold): MapLink[] {
  const found = new Map<string, MapLink>();
  for (const link of links) {
    const ends = link.ends.map((it) => nodeOf(fold, it)) as [string, string];
    if (ends[0] === ends[1]) continue;
    const whole = !ends.some(isGroup);
    const key = whole ? link.key : ends.sort().join(" ");
    const before = found.get(key);
    found.set(key, before ? both(before, link) : { ...link, key, ends });
  }
  return [...found.values()];
}

function both(one: MapLink, other: MapLink): MapLink {
  const load = one.load === null ? other.load : other.load === null ? one.load : Math.max(one.load, other.load);
  return { ...one, load, directed: [...one.directed, ...other.directed], failed: one.failed && other.failed };
}

/** A path between what is drawn. */
export const foldedPath = (path: readonly string[], fold: Fold): string[] =>
  path.map((it) => nodeOf(fold, it)).filter((it, at, all) => it !== all[at - 1]);
