import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, Host, Link, Snapshot, Switch, Transfer } from "../src/domain/api";
import { fromHash, toHash } from "../src/domain/address";
import { complete } from "../src/domain/complete";
import type { Cluster } from "../src/domain/cluster";
import { troubles, type Alarm } from "../src/domain/health";
import { bottlenecks, usersOf } from "../src/domain/limits";
import { hostName, named, switchName } from "../src/domain/names";
import { capacity } from "../src/domain/overlay";
import { directionOf, fromSnapshot, throughputOf, withDelta } from "../src/domain/view";

const [A, B] = ["000000000000000a", "000000000000000b"];
const link = (a: string, b: string, load_bps: number, capacity_bps = 100, port = 1): Link => ({ src: { dpid: a, port }, dst: { dpid: b, port }, capacity_bps, load_bps }) as unknown as Link;
const node = (dpid: string, name?: string): Switch => ({ dpid, role: "master", name: name ?? null, address: null, ports: [{ port: 1, name: "eth1", up: true }] }) as unknown as Switch;
const snapshot = (more: Partial<Snapshot> = {}): Snapshot => ({ schema: "braid/v1", now: 100e9, switches: [node(A, "ams"), node(B)], links: [], hosts: [], edges: [], transfers: [], events: [], ...more });
const lost = (notice: string, src: string, dst: string, why = "port_down"): Event =>
  ({ number: 1, time: 1, level: "info", notice, text: "", src: { dpid: src, port: 1 }, dst: { dpid: dst, port: 1 }, why }) as unknown as Event;
const transfer = (more: object = {}): Transfer =>
  ({ id: 1, kind: "mptcp", opened_at: 0, streams: [{ id: 1, src: "10.0.0.1", dst: "10.0.0.2", path: [A, B], bytes_sent: 1, bytes_received: 9, sent_bps: 5, received_bps: 95, ...more }] }) as unknown as Transfer;

test("a link that failed before the page was opened is known by its events", () => {
  const events = [lost("link_down", A, B), lost("link_down", B, A)];
  assert.deepEqual([...fromSnapshot(snapshot({ events })).failed.keys()], [`${A}:1`, `${B}:1`]);
  assert.equal(fromSnapshot(snapshot({ events: [...events, lost("link_up", A, B)] })).failed.size, 1);
  assert.equal(fromSnapshot(snapshot({ events: [lost("link_down", A, B, "rewired")] })).failed.size, 0);
  assert.equal(fromSnapshot(snapshot({ events: [lost("link_down", A, "c")] })).failed.size, 0, "its switch is not there");
  assert.equal(fromSnapshot(snapshot({ events, links: [link(A, B, 1)] })).failed.size, 1);
  const told = fromSnapshot(snapshot({ lost_links: [{ ...link(A, B, 0), lost_at: 1 }] }));
  assert.equal(told.failed.get(`${A}:1`)?.capacity_bps, 100, "what the controller says counts");
});

test("names stand where datapath ids were, of switches that have left, too", () => {
  let view = fromSnapshot(snapshot());
  view = withDelta(view, { schema: "braid/v1", now: 1, switches: { set: [], removed: [A] } });
  assert.deepEqual([A, B].map((it) => switchName(view, it)), ["ams", "b"]);
  assert.equal(named(view, `link ${A}:1 > ${B}:2 is up`), "link ams:1 > b:2 is up");
  const host = { mac: "m", addresses: ["fe80::1", "fd00::1", "10.0.0.1"] } as unknown as Host;
  assert.equal(hostName(host), "10.0.0.1", "an IPv4 address is shorter");
  assert.equal(hostName({ ...host, name: "dtn1" } as Host, "10.0.0.1"), "dtn1");
  assert.equal(hostName(host, "fd00::1"), "fd00::1");
});

test("a transfer is measured in the direction in which it carries most, and so is what its paths can carry", () => {
  const view = fromSnapshot(snapshot({ links: [link(A, B, 5, 1000), link(B, A, 95, 100)] }));
  assert.deepEqual([directionOf(transfer()), throughputOf(transfer()), capacity(view, transfer())], ["received", 95, 100]);
  assert.deepEqual([throughputOf(transfer({ bytes_sent: 99 })), capacity(view, transfer({ bytes_sent: 99 }))], [5, 1000]);
});

test("a transfer is limited by the full links of its way", () => {
  const both = [link(A, B, 5), link(B, A, 95)];
  const view = fromSnapshot(snapshot({ links: both, transfers: [transfer()] }));
  assert.deepEqual(bottlenecks(view, transfer()).map((it) => it.src.dpid), [B]);
  assert.deepEqual(bottlenecks(view, transfer({ bytes_sent: 99 })), [], "the other way is free");
  assert.deepEqual(both.map((it) => usersOf(view, it).length), [1, 1]);
});

test("a network is well unless something is down, attacked or silent", () => {
  const view = fromSnapshot(snapshot({ links: [link(A, B, 99)] }));
  const cluster = (more: Partial<Cluster>): Cluster => ({ schema: "", now: 100e9, name: "c", member: "a", leader: "a", newest_term: 1, store_answers: true, members: [{ name: "a", address: "" }], ...more });
  const words = (alarms: Alarm[], it: Cluster | null, of = view) => troubles({ view: of, alarms, cluster: it }).map(({ severity, text }) => `${severity}: ${text}`);
  assert.deepEqual(words([], cluster({})), ["note: 1 link is full: ams > b"]);
  const alarm = { kind: "forged_lldp", why: "", text: `forged frames at ${A}:1`, at: { dpid: A, port: 1 }, first_at: 0, last_at: 95e9, count: 3 } as unknown as Alarm;
  assert.match(words([alarm], null)[0] ?? "", /^bad: forged frames at ams:1 \(3×, 5\.0 s ago\)$/);
  const silent_path = { ...alarm, kind: "silent_path", to: B, path: [A, B], silences: 1, text: `a path to edge b fell silent` } as unknown as Alarm;
  assert.match(words([silent_path], null)[0] ?? "", /^warning: a path to edge b fell silent at ams:eth1 /);
  assert.deepEqual(words([{ ...alarm, last_at: 1 }], null, { ...view, now: 5000e9 }).length, 1, "an old alarm is history");
  const silent = cluster({ leader: null, store_answers: false, members: [{ name: "a", address: "" }, { name: "b", address: "", last_heard: 1 }] });
  assert.deepEqual(words([], silent).slice(0, 3), ["bad: The cluster's store does not answer", "bad: No controller leads the cluster", "bad: Controller b does not answer"]);
  const cut = fromSnapshot(snapshot({ events: [lost("link_down", A, B), lost("link_down", B, A)] }));
  assert.deepEqual(words([], null, cut), ["bad: Link ams – b is down"]);
});

test("what is looked at stands in the address", () => {
  const tabs = ["transfers", "links"];
  const looked = { tab: "links", filter: 'load_bps>10M "a b"', selection: { kind: "link" as const, id: "1:2 3:4" } };
  assert.deepEqual(fromHash(toHash(looked, "transfers"), tabs), looked);
  assert.equal(toHash({ tab: "transfers", filter: "", selection: null }, "transfers"), "");
  assert.deepEqual(fromHash("#tab=nothing&host=", tabs), { tab: "transfers", filter: "", selection: null });
});

test("a filter is completed with fields, then with their values", () => {
  const items = [{ kind: "mptcp", streams: [{ src: "10.0.0.1", src_port: 9 }], name: "a b" }, { kind: "spray" }];
  assert.deepEqual(complete("sr", items), ["src=", "src_port="]);
  assert.deepEqual(complete("ams1 -ki", items), ["ams1 -kind="]);
  assert.deepEqual(complete("kind=", items), ["kind=mptcp", "kind=spray"]);
  assert.deepEqual(complete("kind=mptcp", items), []);
  assert.deepEqual(complete("name=a", items), ['name="a b"']);
  assert.deepEqual([complete("", items), complete('"sr', items), complete("10.0", items)], [[], [], []]);
});
