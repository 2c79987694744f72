import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, Link, Snapshot, Switch, Transfer } from "../src/domain/api";
import { connect, type Source } from "../src/domain/connection";
import { mapLinks, capacity } from "../src/domain/overlay";
import { fromSnapshot, largest, pathsOf, withDelta, withEvent, type View } from "../src/domain/view";

const link = (from: string, to: string, load: number | null = null, port = 1): Link => ({
  src: { dpid: from, port },
  dst: { dpid: to, port },
  capacity_bps: 100,
  delay_us: null,
  delay_at: null,
  load_bps: load,
  load_at: null,
  loss: null,
  loss_at: null,
  counters: { bytes: 0, packets: 0, dropped: 0, errors: 0 },
});

const transfer = (id: number, paths: string[][], bytes = 0): Transfer => ({
  id,
  kind: "mptcp",
  opened_at: 0,
  streams: paths.map((path, at) => ({
    id: id * 10 + at,
    src: "10.0.0.1",
    dst: "10.0.0.2",
    src_port: at,
    dst_port: 80,
    path,
    bytes_sent: bytes,
    bytes_received: 0,
    sent_bps: 0,
    received_bps: 0,
  })),
});

/** A switch with the first of these ports. */
const joined = (dpid: string, ports = 2): Switch => ({
  dpid,
  role: "master",
  address: null,
  ports: [1, 2].slice(0, ports).map((port) => ({ port, name: `eth${port}`, up: true, role: "link" })),
});

const snapshot = (now = 0): Snapshot => ({
  schema: "braid/v1",
  now,
  switches: ["1", "2", "3"].map((dpid) => joined(dpid)),
  links: [link("1", "2", 50), link("2", "1", 20), link("2", "3", null, 2), link("3", "2", null, 2)],
  hosts: [],
  edges: [],
  transfers: [],
  events: [],
});

test("a link that goes is shown as failed until it or its switch is back or gone", () => {
  let view = fromSnapshot(snapshot());
  view = withDelta(view, { schema: "braid/v1", now: 1, links: { set: [], removed: ["1:1", "2:1"] } });
  assert.deepEqual([...view.failed.keys()].sort(), ["1:1", "2:1"]);
  assert.deepEqual(mapLinks(view).filter((it) => it.failed).map((it) => it.ends), [["1", "2"]]);
  view = withDelta(view, { schema: "braid/v1", now: 2, links: { set: [link("1", "2")], removed: [] } });
  assert.ok(!view.failed.has("1:1"));
  view = withDelta(view, { schema: "braid/v1", now: 3, switches: { set: [], removed: ["2"] } });
  assert.equal(view.failed.size, 0);
});

test("a link that goes with both its ports was removed, and has not failed", () => {
  const view = withDelta(fromSnapshot(snapshot()), { schema: "braid/v1", now: 1, links: { set: [], removed: ["2:2", "3:2"] } });
  const gone = (...dpids: string[]) => withDelta(view, { schema: "braid/v1", now: 2, switches: { set: dpids.map((it) => joined(it, 1)), removed: [] } });
  assert.equal(gone("2").failed.size, 2, "an interface that vanished is a fault");
  assert.equal(gone("2", "3").failed.size, 0);
});

test("the two directions of a link are one line with the busier load", () => {
  const view = fromSnapshot({ ...snapshot(), links: [link("1", "2", 50), link("2", "1", 20)] });
  assert.deepEqual(mapLinks(view).map((it) => [it.ends, it.load, it.failed]), [[["1", "2"], 0.5, false]]);
});

test("paths that share a link count it once", () => {
  const links = [link("1", "2"), link("2", "3", null, 2), link("1", "3", null, 3)];
  const view = fromSnapshot({ ...snapshot(), links });
  assert.equal(capacity(view, transfer(1, [["1", "2", "3"], ["1", "3"]])), 200);
  assert.equal(capacity(view, transfer(1, [["1", "2", "3"], ["1", "2", "3"]])), 100);
  assert.equal(capacity(view, transfer(1, [[]])), null);
});

test("a stream that is sprayed takes all of its paths, and counts on each", () => {
  const view = fromSnapshot({ ...snapshot(), links: [link("1", "2"), link("1", "3", null, 2), link("3", "2", null, 3)] });
  const spray_paths = [["1", "2"], ["1", "3", "2"]].map((path) => ({ path, ports: [], rate_bps: 100, delay_us: 1 }));
  const one = transfer(1, [["1"]]);
  const spray = { ...one, streams: one.streams.map((it) => ({ ...it, spray_paths })) };
  assert.deepEqual(spray.streams.map(pathsOf), [[["1", "2"], ["1", "3", "2"]]]);
  assert.equal(capacity(view, spray), 200);
  // Parallel links are distinguished by their ports.
  const ports = [1, 5].map((port) => ({ path: ["1", "2"], ports: [{ dpid: "1", port }], rate_bps: 100, delay_us: 1 }));
  const parallel = fromSnapshot({ ...snapshot(), links: [link("1", "2"), link("1", "2", null, 5)] });
  assert.equal(capacity(parallel, { ...one, streams: one.streams.map((it) => ({ ...it, spray_paths: ports })) }), 200);
  assert.deepEqual([[], ["1"]].map((path) => pathsOf({ path })), [[], [["1"]]]);
});

test("the transfer that has carried most is shown first", () => {
  const view = fromSnapshot({ ...snapshot(), transfers: [transfer(1, [["1"]], 5), transfer(2, [["1"]], 9), transfer(3, [], 0)] });
  assert.equal(largest(view), "2");
  assert.equal(largest(fromSnapshot(snapshot())), null);
});

test("events are kept, and only the last", () => {
  let view = fromSnapshot(snapshot());
  for (let number = 1; number <= 600; number += 1) {
    view = withEvent(view, { number, time: 0, level: "info", text: "", notice: "unknown" } satisfies Event);
  }
  assert.deepEqual([view.events.length, view.events[0]?.number, view.events.at(-1)?.number], [512, 89, 600]);
});

test("messages become views, and a snapshot begins anew", () => {
  const listeners = new Map<string, (message: { data: string }) => void>();
  const source: Source = { addEventListener: (type, it) => void listeners.set(type, it), close: () => listeners.clear() };
  const seen: [View, number][] = [];
  const connection = connect(() => source, (view, at) => seen.push([view, at]), () => 7);
  const send = (type: string, data: unknown) => listeners.get(type)?.({ data: JSON.stringify(data) });
  send("snapshot", snapshot(5));
  send("delta", { schema: "braid/v1", now: 6, switches: { set: [], removed: ["3"] } });
  send("snapshot", snapshot(1));
  assert.deepEqual(seen.map(([view, at]) => [view.now, view.switches.size, at]), [[5, 3, 7], [6, 2, 7], [1, 3, 7]]);
  connection.close();
  assert.equal(listeners.size, 0);
});
