import assert from "node:assert/strict";
import { test } from "node:test";
import type { TransferHistory } from "../src/domain/api";
import { loadColour, streamColour, streamDash } from "../src/domain/colours";
import * as format from "../src/domain/format";
import { layout } from "../src/domain/layout";
import { exceeds, limited, merge, stack, WINDOW_S } from "../src/domain/throughput";

const history = (times: number[], streams: Record<number, (number | null)[]>): TransferHistory => ({
  schema: "braid/v1",
  now: (times.at(-1) ?? 0) * 1e9,
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
  const anew = history([1], { 1: [7] });
  assert.deepEqual(merge(both, anew), anew, "a controller that was started anew has another clock");
  const long = history(Array.from({ length: 900 }, (_, at) => at), { 1: Array.from({ length: 900 }, () => 1) });
  assert.equal(merge(null, long).times.length, WINDOW_S);
});

test("streams are stacked in their order, the whole stack first", () => {
  const data = stack(history([1, 2], { 1: [1, null], 2: [10, 20], 3: [null, null] }));
  assert.deepEqual(data, [[-1, 0], [11, 20], [11, 20], [1, null]]);
});

test("a stack is of one direction, as links carry as much both ways at once", () => {
  const both = history([1, 2], { 1: [1, 2] });
  both.streams[0]!.received_bps = [30, 40];
  assert.deepEqual(stack(both)[1], [30, 40]);
});

test("readings of a second may exceed a capacity by little, and no share is over 100 % then", () => {
  assert.deepEqual([0.5, 1, 1.04, 1.4].map(format.used), ["50 %", "100 %", "100 %", "> 100 %"]);
  assert.equal(format.absolute(null, 5e9), undefined);
  assert.equal(format.absolute(0, 5e9), new Date(5000).toLocaleString(undefined, { dateStyle: "short", timeStyle: "medium" }));
});

test("what paths can carry is drawn from when it held", () => {
  const first = limited([], { time: 50, bps: 200 });
  assert.deepEqual(first, [{ time: 50, bps: 200 }]);
  assert.deepEqual(limited(first, { time: 51, bps: 200 }), first);
  const cut = limited(first, { time: 60, bps: 100 });
  assert.deepEqual(cut, [...first, { time: 60, bps: 100 }]);
  assert.deepEqual(limited(cut, { time: 55, bps: 200 }), first, "a run that is played again");
});

test("more than the paths can carry is explained where it was sent", () => {
  const sent = history([1, 2, 3], { 1: [100, 60, 60], 2: [null, 60, 40] });
  const limits = [{ time: 1e9, bps: 100 }, { time: 3e9, bps: 200 }];
  assert.ok(exceeds(sent, limits));
  assert.ok(!exceeds(sent, [{ time: 1e9, bps: 119 }]), "a reading of a second is not exact");
  assert.ok(!exceeds(sent, [{ time: 3e9, bps: 100 }]), "the time before is not known");
});
