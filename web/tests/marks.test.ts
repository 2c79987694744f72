import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, Transfer, TransferHistory } from "../src/domain/api";
import { between, grouped, networkMoments, type Moment } from "../src/domain/marks";
import { outages, outline, track } from "../src/domain/track";
import { empty, type View } from "../src/domain/view";

const [A, B, C] = ["0000000000000001", "0000000000000002", "0000000000000003"];
const event = (at: number, notice: string, more: object, text = notice): Event => ({ number: at, time: at * 1e9, level: "info", notice, text, ...more }) as Event;
const link = (at: number, notice: string, a: string, b: string) =>
  event(at, notice, { src: { dpid: a, port: 1 }, dst: { dpid: b, port: 1 }, why: "port_down" }, `link ${a}:1 > ${b}:1 is ${notice === "link_up" ? "up" : "down: its port is down"}`);
const placed = (at: number, id: number, path: string[], transfer = 1) => event(at, "stream_placed", { id, transfer, path }, `stream ${id} takes ${path.join(", ")}`);
const transfer = { id: 1, kind: "mptcp", opened_at: 0, streams: [{ id: 7, path: [A, C, B] }] } as unknown as Transfer;
const view = (events: Event[]): View => ({ ...empty, events, names: new Map([[A, "ams"], [B, "gva"]]) });
const history = { times: [0, 100e9] } as unknown as TransferHistory;
const marks = (events: Event[]) => between(view(events), transfer, history).map(({ x, mark }) => [x, mark.kind, mark.texts]);

test("a plot has marks of what concerns its transfer: cuts of its links, and streams that were moved", () => {
  const cut = [link(20, "link_down", A, B), link(20, "link_down", B, A)];
  const found = marks([placed(1, 7, [A, B]), event(15, "stream_ended", { id: 99, bytes: 1 }), ...cut, placed(20.1, 7, [A, C, B]), link(40, "link_down", C, "4")]);
  assert.deepEqual(found, [[-80, "down", ["link ams – gva is down: its port is down", "stream 7 takes ams, 3, gva"]]]);
  assert.deepEqual(marks([placed(1, 7, [A, B]), placed(30, 8, [A, B], 2), placed(31, 8, [A, C, B], 2)]), [], "other streams are no marks");
  assert.deepEqual(between(view(cut), undefined, history), []);
});

test("moments that are near each other are one mark, which has the shape of the worst", () => {
  const at = (time: number, kind: Moment["kind"]): Moment => ({ time, kind, text: `${time}` });
  const found = grouped([at(0, "up"), at(10, "moved"), at(11, "down"), at(12.5, "up"), at(20, "failed")], 5, 2);
  assert.deepEqual(found, [{ time: 10, kind: "down", texts: ["10", "11"] }, { time: 12.5, kind: "up", texts: ["12.5"] }, { time: 20, kind: "failed", texts: ["20"] }]);
  assert.deepEqual(networkMoments(view([link(1, "link_up", A, B)])).map((it) => [it.kind, it.text]), [["up", "link ams – gva is up"]]);
});

test("a time line has the throughput, and when links were down", () => {
  const at = (time: number, sent_bps: number, failed: number): View =>
    ({ ...empty, now: time, failed: new Map(Array.from({ length: failed }, (_, nth) => [String(nth), {}])), transfers: new Map([["1", { streams: [{ sent_bps, received_bps: 1, bytes_sent: 2, bytes_received: 1 }] }]]) }) as unknown as View;
  const all = [at(1, 10, 0), at(2, 20, 1), at(3, 20, 1), at(4, 5, 0)].reduce(track, []);
  assert.deepEqual(all.map((it) => it.bps), [10, 20, 20, 5]);
  assert.deepEqual(outages(all), [{ from: 2, to: 4 }]);
  assert.deepEqual(outages(all.slice(0, 3)), [{ from: 2, to: 3 }]);
  assert.equal(outline(all, 1, 4, 30, 10), "M0.0 10L0.0 5.0L10.0 0.0L20.0 0.0L30.0 7.5L30.0 10Z");
  assert.deepEqual(track(all, at(0.5, 1, 0)).length, 1, "a controller that was started anew begins anew");
  const long = Array.from({ length: 5000 }, (_, nth) => at(nth, nth, 0)).reduce(track, []);
  assert.ok(long.length <= 2400 && long.at(-1)?.time === 4999 && long[0]?.time === 0);
});
