import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, Link, Snapshot, Transfer } from "../src/domain/api";
import { counted, lossyLinks, lostShare, probation, recovery } from "../src/domain/degraded";
import { troubles, type Alarm } from "../src/domain/health";
import { networkMoments, transferMoments } from "../src/domain/marks";
import { urgent } from "../src/domain/overlay";
import { outages, track } from "../src/domain/track";
import { fromSnapshot, portName, withDelta } from "../src/domain/view";

const [A, B] = ["000000000000000a", "000000000000000b"];
const evidence = { frames: 2000, lost: 30, damaged: 0, time_us: 2_500_000 };
const degraded = { since: 90e9, evidence, clean_since: 95e9, hold_us: 30_000_000 };
const link = (a: string, b: string, port = 1, more: object = {}): Link => ({ src: { dpid: a, port }, dst: { dpid: b, port }, capacity_bps: 100, load_bps: 1, ...more }) as unknown as Link;
const snapshot = (links: Link[], events: Event[] = [], transfers: Transfer[] = []): Snapshot =>
  ({ schema: "braid/v1", now: 100e9, switches: [A, B].map((dpid) => ({ dpid, name: dpid === A ? "ams" : "gva", ports: [] })), links, hosts: [], edges: [], transfers, events }) as unknown as Snapshot;
const alarm = (more: object = {}) => ({ kind: "lossy_link", at: { dpid: A, port: 1 }, to: { dpid: B, port: 1 }, evidence, text: "", first_at: 90e9, last_at: 90e9, count: 1, ...more }) as unknown as Alarm;
const told = (notice: string, time: number, more: object): Event => ({ number: time, time: time * 1e9, level: "info", text: "", notice, ...more }) as unknown as Event;
const found = told("alarm", 90, { at: { dpid: A, port: 1 }, count: 1, threat: { kind: "lossy_link", to: { dpid: B, port: 1 }, evidence } });
const recovered = told("link_recovered", 99, { src: { dpid: A, port: 1 }, dst: { dpid: B, port: 1 }, evidence });
const said = (links: Link[], alarms: Alarm[]) => troubles({ view: fromSnapshot(snapshot(links)), alarms, cluster: null }).map((it) => `${it.severity}: ${it.text}`);

test("a link that loses frames is a warning of its own, with both directions; its alarm says no more", () => {
  const both = [link(A, B, 1, { degraded }), link(B, A)];
  assert.deepEqual(said(both, [alarm()]), ["warning: Link ams – gva loses frames (ams → gva 1.50 %): avoided"]);
  assert.deepEqual(said([link(A, B), link(B, A)], [alarm()]), ["note: Link ams – gva lost frames and is used again"]);
  const back = { at: { dpid: B, port: 1 }, to: { dpid: A, port: 1 } };
  assert.deepEqual(said([link(A, B), link(B, A)], [alarm(), alarm(back)]), ["note: Link ams – gva lost frames and is used again"], "both ways, one name");
  assert.deepEqual(said([link(A, B)], [alarm({ last_at: -1e15 })]), [], "long ago");
  assert.deepEqual(said([], [alarm()]), [], "a link that is gone is told as such");
});

test("evidence is put into words, and counts nothing where there is nothing", () => {
  assert.equal(counted(evidence), "30 of 2000 frames in 2.5 s");
  assert.equal(counted({ ...evidence, damaged: 4 }), "30 of 2000 frames in 2.5 s, 4 of them damaged");
  assert.deepEqual([lostShare(evidence), lostShare({ ...evidence, frames: 0 })], [0.015, null]);
});

test("a link is used again when it has been clean for its hold time", () => {
  const view = fromSnapshot(snapshot([link(A, B, 1, { degraded })]));
  assert.deepEqual(probation(view, degraded), { clean: 5e9, hold: 30e9 });
  assert.deepEqual(probation({ ...view, now: 500e9 }, degraded), { clean: 30e9, hold: 30e9 });
  assert.deepEqual(lossyLinks(view).map((it) => it.ends), [[A, B]]);
});

test("losses and their end are marks of the network, and of transfers that took the link", () => {
  const view = fromSnapshot(snapshot([link(A, B)], [found, recovered]));
  assert.deepEqual(networkMoments(view).map((it) => [it.kind, it.text]), [["lossy", "link ams > gva loses frames: 30 of 2000 frames in 2.5 s"], ["up", "link ams > gva loses nothing any more"]]);
  assert.deepEqual([recovery(view, `${A}:1`)?.time, recovery(view, `${B}:1`)], [99e9, undefined]);
  const transfer = (path: string[]) => ({ id: 1, kind: "mptcp", opened_at: 0, streams: [{ id: 7, path }] }) as unknown as Transfer;
  assert.equal(transferMoments(view, transfer([B, A])).length, 2);
  assert.equal(transferMoments(view, transfer([A, "c"])).length, 0);
});

test("the time line has the span in which a link lost frames", () => {
  const lossy = fromSnapshot(snapshot([link(A, B, 1, { degraded })]));
  const clean = withDelta(lossy, { schema: "braid/v1", now: 130e9, links: { set: [link(A, B)], removed: [] } });
  assert.deepEqual(outages([lossy, clean].reduce(track, []), "lossy"), [{ from: 100e9, to: 130e9 }]);
  assert.deepEqual(outages([lossy, clean].reduce(track, [])), []);
});

test("tables begin with links that are down, then with those that lose frames, then with the busiest", () => {
  const [idle, busy, loses] = [link(A, B, 2), link(A, B, 3, { load_bps: 90 }), link(A, B, 4, { degraded })];
  const gone = link(A, B, 5);
  const view = { ...fromSnapshot(snapshot([idle, busy, loses])), failed: new Map([[portName(gone.src), gone]]) };
  const ports = (most: number) => urgent(view, [idle, busy, loses, gone], most).map((it) => it.src.port);
  assert.deepEqual(ports(9), [5, 4, 2, 3], "as they come where all are shown");
  assert.deepEqual(ports(3), [5, 4, 3]);
});
