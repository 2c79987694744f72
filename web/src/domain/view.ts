import type { Changes, Delta, Edge, Event, Host, Link, Snapshot, Stream, Switch, SwitchPort, Time, Transfer } from "./api";

/** The network as the last message told it. Views are never changed: each message makes a new one. */
export interface View {
  now: Time;
  switches: ReadonlyMap<string, Switch>;
  /** By the port that they leave. */
  links: ReadonlyMap<string, Link>;
  /** Links that were there and are not, while both their switches are. */
  failed: ReadonlyMap<string, Link>;
  hosts: ReadonlyMap<string, Host>;
  edges: ReadonlyMap<string, Edge>;
  transfers: ReadonlyMap<string, Transfer>;
  /** The latest last. */
  events: readonly Event[];
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
};

const keyed = <T>(items: T[], key: (item: T) => string): Map<string, T> => new Map(items.map((it) => [key(it), it]));

export function fromSnapshot(data: Snapshot): View {
  return {
    now: data.now,
    switches: keyed(data.switches, (it) => it.dpid),
    links: keyed(data.links, (it) => portName(it.src)),
    failed: new Map(),
    hosts: keyed(data.hosts, (it) => it.mac),
    // Runs that were saved by earlier versions have none.
    edges: keyed(data.edges ?? [], (it) => it.dpid),
    transfers: keyed(data.transfers, (it) => String(it.id)),
    events: data.events.slice(-MAX_EVENTS),
  };
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
});

export function withDelta(view: View, delta: Delta): View {
  const switches = changed(view.switches, delta.switches, (it) => it.dpid);
  const links = changed(view.links, delta.links, (it) => portName(it.src));
  return {
    now: delta.now,
    switches,
    links,
    failed: failed(view, switches, links),
    hosts: changed(view.hosts, delta.hosts, (it) => it.mac),
    edges: changed(view.edges, delta.edges, (it) => it.dpid),
    transfers: changed(view.transfers, delta.transfers, (it) => String(it.id)),
    events: view.events,
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

function failed(view: View, switches: View["switches"], links: View["links"]): View["failed"] {
  if (links === view.links && switches === view.switches) return view.failed;
  const candidates = [...view.failed, ...view.links].filter(([key]) => !links.has(key));
  return new Map(candidates.filter(([, it]) => switches.has(it.src.dpid) && switches.has(it.dst.dpid)));
}
