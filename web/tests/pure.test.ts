import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, TransferHistory } from "../src/domain/api";
import { loadColour, streamColour, streamDash } from "../src/domain/colours";
import * as format from "../src/domain/format";
import { layout } from "../src/domain/layout";
import { between, merge, stack, WINDOW_S } from "../src/domain/throughput";

const history = (times: number[], streams: Record<number, (number | null)[]>): TransferHistory => ({
  schema: "braid/v1",
  now: 0,
  id: 1,
  step_s: 1,
  times: times.map((it) => it * 1e9),
  streams: Object.entries(streams).map(([id, sent_bps]) => ({
    id: Number(id),
    src: "::1",
    dst: "::2",
    src_port: 1,
    dst_port: 2,
    path: [],
    sent_bps,
    received_bps: sent_bps.map(() => null),
  })),
});

test("values have the unit that fits, and what is not known is a dash", () => {
  assert.deepEqual([0, 999, 94_930_000, 2.5e9, null].map(format.rate), [
    "0 bit/s", "999 bit/s", "94.9 Mbit/s", "2.50 Gbit/s", "–",
  ]);
  assert.deepEqual([3.2, 10_004, null].map(format.delay), ["3 µs", "10.00 ms", "–"]);
  assert.deepEqual([0, 0.0125, 1, null].map(format.share), ["0.00 %", "1.25 %", "100 %", "–"]);
  assert.deepEqual([1.2e9, 61e9, 7.32e12].map(format.duration), ["1.2 s", "1 min 1 s", "2 h 2 min"]);
  assert.deepEqual([format.endpoint("10.0.0.1", 80), format.endpoint("fd00::1", 80)], ["10.0.0.1:80", "[fd00::1]:80"]);
  assert.deepEqual(["0000000000000001", "0000000000000000"].map(format.dpid), ["1", "0"]);
});

test("streams after the first six differ by their dashes, and loads have a colour each", () => {
  const looks = Array.from({ length: 24 }, (_, at) => streamColour(at) + streamDash(at));
  assert.equal(new Set(looks).size, 24);
  assert.equal(loadColour(5), loadColour(1));
  assert.notEqual(loadColour(0), loadColour(null));
});

test("places are the same each time, apart from each other, and stay when something is added", () => {
  const names = Array.from({ length: 20 }, (_, at) => `s${at}`);
  const edges = names.map((name, at) => [name, names[(at + 1) % 20] as string] as const);
  const first = layout(names, edges);
  assert.deepEqual(layout([...names].reverse(), edges), first);
  for (const [name, at] of first) {
    assert.ok(at.x >= 0 && at.x <= 1 && at.y >= 0 && at.y <= 1, name);
    for (const [other, there] of first) assert.ok(name === other || Math.hypot(at.x - there.x, at.y - there.y) > 0.02);
  }
  const grown = layout([...names, "new"], [...edges, ["new", "s3"]], first);
  for (const [name, at] of first) assert.deepEqual(grown.get(name), at, name);
  const added = grown.get("new");
  assert.ok(added && added.x >= 0 && added.x <= 1 && added.y >= 0 && added.y <= 1);
  const ring = layout(["1", "2", "3", "4"], [["1", "2"], ["3", "4"], ["1", "3"], ["2", "4"]]);
  const far = (a: string, b: string) => Math.hypot(ring.get(a)!.x - ring.get(b)!.x, ring.get(a)!.y - ring.get(b)!.y);
  assert.ok(far("1", "4") > far("1", "2") && far("1", "4") > far("1", "3"), "a ring is not crossed");
  assert.equal(layout([], []).size, 0);
  assert.deepEqual(layout(["a"], []).get("a"), { x: 0.5, y: 0.5 });
});

test("what comes later is appended, streams that open late have nothing before", () => {
  const first = history([1, 2], { 1: [1, 2] });
  const both = merge(first, history([2, 3], { 1: [2, 3], 2: [null, 9] }));
  assert.deepEqual(both.times, [1e9, 2e9, 3e9]);
  assert.deepEqual(both.streams.map((it) => it.sent_bps), [[1, 2, 3], [null, null, 9]]);
  assert.equal(merge(both, history([3], { 1: [3] })), both);
  const long = history(Array.from({ length: 900 }, (_, at) => at), { 1: Array.from({ length: 900 }, () => 1) });
  assert.equal(merge(null, long).times.length, WINDOW_S);
});

test("streams are stacked in their order, the whole stack first", () => {
  const data = stack(history([1, 2], { 1: [1, null], 2: [10, 20], 3: [null, null] }));
  assert.deepEqual(data, [[-1, 0], [11, 20], [11, 20], [1, null]]);
});

test("what happened while the transfer is shown is marked", () => {
  const event = (at: number, notice: string): Event => ({ number: at, time: at * 1e9, level: "info", text: notice, notice }) as Event;
  const events = [event(1, "link_down"), event(3, "link_down"), event(4, "host_seen")];
  assert.deepEqual(between(events, history([2, 5], {})), [{ x: -2, text: "link_down" }]);
  assert.deepEqual(between(events, null), []);
});
