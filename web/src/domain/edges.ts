/** Edges: the paths that they spray over, and their resequencers. */
import type { Edge, EdgeHistory, EdgePath, Stream, SwitchPort, Time } from "./api";
import { WINDOW_S } from "./throughput";
import { portName } from "./view";

type Values = (number | null)[];

/** A reading that is older is not one of this second. */
const FRESH_NS = 3e9;

/** What names a path, of several links between two switches, too. */
export const pathKey = (path: { ports?: readonly SwitchPort[]; path: readonly string[] }): string =>
  path.ports?.length ? path.ports.map(portName).join(" ") : path.path.join(" ");

/**
 * The place of each path among those of a stream that is sprayed: by it, it has its colour on the map and here.
 *
 * Paths of other streams, and back, have the places that they have in their own group.
 */
export function places(streams: readonly Stream[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const stream of streams)
    stream.spray_paths?.forEach((path, place) => {
      const key = pathKey(path);
      if (!found.has(key)) found.set(key, place);
    });
  return found;
}

/** The edge that does most: that sprays, and else the first. */
export function busiest(edges: ReadonlyMap<string, Edge>): string | null {
  const carried = (edge: Edge) => edge.spray_groups.flatMap((it) => it.paths).reduce((sum, it) => sum + (it.carried_bps ?? 0), 0);
  let [found, most] = [null as string | null, -1];
  for (const [dpid, edge] of edges) {
    const now = carried(edge);
    if (now > most) [found, most] = [dpid, now];
  }
  return found;
}

/** Gaps that did not close. */
export const givenUp = (counters: NonNullable<Edge["resequencers"][number]["counters"]>): number =>
  counters.gaps_passed + counters.gaps_timed_out + counters.gaps_over_threshold + counters.gaps_overflowed + counters.gaps_ended;

const nothing = (length: number): Values => Array<number | null>(length).fill(null);

/** The history with the present state of an edge. */
export function extend(before: EdgeHistory | null, edge: Edge, now: Time): EdgeHistory {
  const history: EdgeHistory =
    before?.dpid === edge.dpid ? before : { schema: "braid/v1", now, dpid: edge.dpid, step_s: 1, times: [], spray_groups: [], resequencers: [] };
  const last = history.times.at(-1) ?? -1;
  // Half a step: what was drawn is not drawn again when the history is asked for.
  if (now <= last + 5e8) return history;
  const past = history.times.length;
  const add = (values: Values | undefined, value: number | null | undefined, at: Time | null | undefined): Values =>
    cut([...(values ?? nothing(past)), at != null && now - at <= FRESH_NS ? (value ?? null) : null]);
  const paths = (group: number, to: string) => {
    const known = history.spray_groups.find((it) => it.group === group && it.to === to)?.paths ?? [];
    return new Map(known.map((it) => [pathKey(it), it]));
  };
  const path = (known: ReturnType<typeof paths>, it: EdgePath) => {
    const old = known.get(pathKey(it));
    return {
      path: it.path,
      ports: it.ports,
      share: add(old?.share, it.share, it.read_at),
      carried_bps: add(old?.carried_bps, it.carried_bps, it.read_at),
      round_trip_us: add(old?.round_trip_us, it.round_trip_us, it.read_at),
      queue_us: add(old?.queue_us, it.queue_us, it.read_at),
      loss: add(old?.loss, it.loss, it.read_at),
    };
  };
  const spray_groups = edge.spray_groups.map(({ group, to, paths: all }) => {
    const known = paths(group, to);
    return { group, to, paths: all.map((it) => path(known, it)) };
  });
  const resequencers = edge.resequencers.map((it) => {
    const old = history.resequencers.find((known) => known.group === it.group);
    return {
      group: it.group,
      from: it.from,
      host: it.host,
      held_packets: add(old?.held_packets, it.held?.packets, it.read_at),
      held_bytes: add(old?.held_bytes, it.held?.bytes, it.read_at),
      hold_time_p50_us: add(old?.hold_time_p50_us, it.hold_time?.p50_us, it.read_at),
      hold_time_p99_us: add(old?.hold_time_p99_us, it.hold_time?.p99_us, it.read_at),
      hold_time_max_us: add(old?.hold_time_max_us, it.hold_time?.max_us, it.read_at),
    };
  });
  return { ...history, now, times: cut([...history.times, now]), spray_groups, resequencers };
}

const cut = <T>(values: T[]): T[] => values.slice(-WINDOW_S);

/** Seconds before the last step. */
export const seconds = (history: EdgeHistory): number[] => {
  const end = history.times.at(-1) ?? 0;
  return history.times.map((time) => (time - end) / 1e9);
};

/** Sums of the shares of paths from the whole stack down to the first alone. */
export function stacked(columns: readonly Values[]): Values[] {
  const sums: Values[] = [];
  for (const column of columns) {
    const below = sums.at(-1);
    sums.push(column.map((value, at) => (value === null ? (below?.[at] ?? null) : value + (below?.[at] ?? 0))));
  }
  return sums.reverse();
}
