import type { Changes, Delta, Edge, Event, Host, Link, NetworkTotals, Snapshot, Stream, Switch, SwitchPort, Time, Transfer } from "./api";

/** The network as the last message told it. Views are never changed: each message makes a new one. */
export interface View {
  now: Time;
  switches: ReadonlyMap<string, Switch>;
  /** By the port that they leave. */
  links: ReadonlyMap<string, Link>;
  /** Links that were there and are not, while both their switches are, and at least one of their ports. */
  failed: ReadonlyMap<string, Link>;
  hosts: ReadonlyMap<string, Host>;
  edges: ReadonlyMap<string, Edge>;
  transfers: ReadonlyMap<string, Transfer>;
  /** The latest last. */
  events: readonly Event[];
  /** How much there is, also where the lists have only the first items; null of what earlier versions sent. */
  totals: NetworkTotals | null;
  /** Names of switches, of those that have left, too. */
  names: ReadonlyMap<string, string>;
  /** When the controller started, in milliseconds since 1970; null where nobody wrote it down. */
  startedAt: number | null;
}

const MAX_EVENTS = 512;

export const portName = (at: SwitchPort): string => `${at.dpid}:${at.port}`;

export const empty: View = {
  now: 0,
  switches: new Map(),
  links: new Map(),
  failed: new Map(),
  hosts: new Map(),
  edges: new Map(),
  transfers: new Map(),
  events: [],
  totals: null,
  names: new Map(),
  startedAt: null,
};

const keyed = <T>(items: T[], key: (item: T) => string): Map<string, T> => new Map(items.map((it) => [key(it), it]));

export function fromSnapshot(data: Snapshot): View {
  const switches = keyed(data.switches, (it) => it.dpid);
  const links = keyed(data.links, (it) => portName(it.src));
  const lost = data.lost_links ? keyed(data.lost_links, (it) => portName(it.src)) : lostBefore(data.events);
  return {
    now: data.now,
    switches,
    links,
    failed: between(switches, new Map([...lost].filter(([key]) => !links.has(key)))),
    hosts: keyed(data.hosts, (it) => it.mac),
    // Runs that were saved by earlier versions have none.
    edges: keyed(data.edges ?? [], (it) => it.dpid),
    transfers: keyed(data.transfers, (it) => String(it.id)),
    events: data.events.slice(-MAX_EVENTS),
    totals: data.totals ?? null,
    names: namesOf(new Map(), data.switches),
    startedAt: null,
  };
}

/** Links that went down before the page was opened, by what was reported of them. */
function lostBefore(events: readonly Event[]): Map<string, Link> {
  const lost = new Map<string, Link>();
  for (const event of events) {
    if (event.notice === "link_up") lost.delete(portName(event.src));
    if (event.notice !== "link_down") continue;
    // A port with another link now has lost none.
    if (event.why === "rewired") lost.delete(portName(event.src));
    else lost.set(portName(event.src), { ...UNMEASURED, src: event.src, dst: event.dst });
  }
  return lost;
}

const UNMEASURED = { capacity_bps: 0, counters: { bytes: 0, packets: 0, dropped: 0, errors: 0 } };

function namesOf(before: View["names"], switches: readonly Switch[]): View["names"] {
  const fresh = switches.filter((it) => it.name && before.get(it.dpid) !== it.name);
  return fresh.length === 0 ? before : new Map([...before, ...fresh.map((it) => [it.dpid, it.name as string] as const)]);
}

/** What a controller that knows as much would send first. */
export const toSnapshot = (view: View): Snapshot => ({
  schema: "braid/v1",
  now: view.now,
  switches: [...view.switches.values()],
  links: [...view.links.values()],
  hosts: [...view.hosts.values()],
  edges: [...view.edges.values()],
  transfers: [...view.transfers.values()],
  events: [...view.events],
  ...(view.totals ? { totals: view.totals } : {}),
});

export function withDelta(view: View, delta: Delta): View {
  const switches = changed(view.switches, delta.switches, (it) => it.dpid);
  const links = changed(view.links, delta.links, (it) => portName(it.src));
  return {
    now: delta.now,
    switches,
    links,
    failed: failed(view, { links, switches, removed: delta.links?.removed ?? [] }),
    hosts: changed(view.hosts, delta.hosts, (it) => it.mac),
    edges: changed(view.edges, delta.edges, (it) => it.dpid),
    transfers: changed(view.transfers, delta.transfers, (it) => String(it.id)),
    events: view.events,
    totals: delta.totals ?? view.totals,
    names: namesOf(view.names, delta.switches?.set ?? []),
    startedAt: view.startedAt,
  };
}

export function withEvent(view: View, event: Event): View {
  return { ...view, events: [...view.events, event].slice(-MAX_EVENTS) };
}

/** The transfer that has carried most: of an application's connections, not the one that only talks about the others. */
export function largest(view: View): string | null {
  let [found, most] = [null as string | null, -1];
  for (const [id, transfer] of view.transfers) {
    const carried = carriedBy(transfer);
    if (carried > most) [found, most] = [id, carried];
  }
  return found;
}

/** The paths that a stream takes: several if it is sprayed, none if it follows the default path. */
export const pathsOf = (stream: Pick<Stream, "path" | "spray_paths">): string[][] =>
  stream.spray_paths?.length ? stream.spray_paths.map((it) => it.path) : stream.path.length ? [stream.path] : [];

/** The direction of a stream: from the host that opened it, or to it. */
export type Direction = "sent" | "received";

/** The direction in which a transfer carries most. */
export function directionOf(transfer: Transfer): Direction {
  const sum = (of: "bytes_sent" | "bytes_received") => transfer.streams.reduce((sum, it) => sum + it[of], 0);
  return sum("bytes_received") > sum("bytes_sent") ? "received" : "sent";
}

/** What a stream carries in one direction, in bits a second. */
export const rateTowards = (stream: Stream, direction: Direction): number =>
  direction === "sent" ? stream.sent_bps : stream.received_bps;

/** What a transfer carries in the direction in which it carries most: links carry as much both ways at once. */
export function throughputOf(transfer: Transfer): number {
  const direction = directionOf(transfer);
  return transfer.streams.reduce((sum, it) => sum + rateTowards(it, direction), 0);
}

/** What a stream carries both ways, in bits a second. */
export const rateOf = (stream: Stream): number => stream.sent_bps + stream.received_bps;

/** Bytes of all its streams, both ways. */
export const carriedBy = (transfer: Transfer): number =>
  transfer.streams.reduce((sum, it) => sum + it.bytes_sent + it.bytes_received, 0);

function changed<T>(
  items: ReadonlyMap<string, T>,
  changes: Changes<T> | undefined,
  key: (item: T) => string,
): ReadonlyMap<string, T> {
  if (!changes) return items;
  const next = new Map(items);
  for (const key of changes.removed) next.delete(key);
  for (const item of changes.set) next.set(key(item), item);
  return next;
}

function failed(view: View, { links, switches, removed }: Pick<View, "links" | "switches"> & { removed: readonly string[] }): View["failed"] {
  if (removed.length === 0 && view.failed.size === 0) return view.failed;
  const lost = removed.flatMap((key) => (view.links.has(key) ? [[key, view.links.get(key) as Link] as const] : []));
  return between(switches, new Map([...view.failed, ...lost].filter(([key]) => !links.has(key))));
}

/** The links that join two of these switches. One of which both ports are gone was removed: no fault takes both. */
function between(switches: View["switches"], links: ReadonlyMap<string, Link>): Map<string, Link> {
  const has = ({ dpid, port }: SwitchPort) => switches.get(dpid)?.ports.some((it) => it.port === port) ?? false;
  const joined = ({ src, dst }: Link) => switches.has(src.dpid) && switches.has(dst.dpid);
  return new Map([...links].filter(([, it]) => joined(it) && (has(it.src) || has(it.dst))));
}
