import assert from "node:assert/strict";
import { test } from "node:test";
import type { Edge, EdgeHistory, EdgePath, Stream } from "../src/domain/api";
import { busiest, extend, givenUp, pathKey, places, seconds, stacked } from "../src/domain/edges";
import { edgesCsv } from "../src/domain/export";
import { Run } from "../src/domain/run";
import { fromSnapshot } from "../src/domain/view";

const second = (at: number) => at * 1e9;

const path = (port: number, share: number | null, read_at: number | null): EdgePath => ({
  path: ["1", "2"],
  ports: [{ dpid: "1", port }],
  read_at: read_at === null ? null : second(read_at),
  state: "active",
  share,
  carried_bps: share === null ? null : share * 100,
  estimated_capacity_bps: null,
  round_trip_us: 9,
  queue_us: 1,
  loss: 0,
  silences: 3,
  packets: 1,
  bytes: 2,
});

const edge = (dpid: string, shares: (number | null)[], read_at: number | null): Edge => ({
  dpid,
  answered_at: null,
  spray_groups: shares.length ? [{ group: 256, to: "2", paths: shares.map((it, at) => path(at + 1, it, read_at)) }] : [],
  resequencers: [
    {
      group: 257,
      from: "2",
      host: "02:00:00:00:00:01",
      port: 1,
      read_at: read_at === null ? null : second(read_at),
      held: { flows: 1, packets: read_at ?? 0, bytes: 3, max_packets: 9, max_bytes: 9, max_flow_bytes: 9, max_hold_us: 5 },
      hold_time: { packets: 1, p50_us: 2, p99_us: 3, max_us: null },
      counters: null,
    },
  ],
});

const told = (from: number, to: number, shares: (number | null)[]): EdgeHistory | null => {
  let history: EdgeHistory | null = null;
  for (let at = from; at <= to; at += 1) history = extend(history, edge("1", shares, at), second(at));
  return history;
};

test("a history grows by what an edge tells, and has nothing where it told nothing", () => {
  let history = told(1, 2, [0.25, 0.75]);
  history = extend(history, edge("1", [0.25, 0.75], 2), second(6));
  // Another path, which was not reported before.
  history = extend(history, edge("1", [0.2, 0.5, 0.3], 7), second(7));
  const paths = history.spray_groups[0]?.paths ?? [];
  assert.deepEqual(paths.map((it) => it.share), [[0.25, 0.25, null, 0.2], [0.75, 0.75, null, 0.5], [null, null, null, 0.3]]);
  assert.deepEqual(history.resequencers[0]?.held_packets, [1, 2, null, 7]);
  assert.deepEqual(seconds(history), [-6, -5, -1, 0]);
  assert.equal(extend(history, edge("1", [1], 7), second(7.1)), history, "the same moment is drawn once");
  assert.deepEqual(extend(history, edge("3", [1], 8), second(8)).times, [second(8)]);
});

test("a history is as long as what is drawn", () => {
  const history = told(1, 400, [1]);
  assert.deepEqual([history?.times.length, history?.spray_groups[0]?.paths[0]?.share.length], [300, 300]);
});

test("shares lie on each other", () => {
  assert.deepEqual(stacked([[0.25, null], [0.75, 0.5]]), [[1, 0.5], [0.25, null]]);
});

test("paths have the places that they have in the stream that is looked at", () => {
  const spray_paths = [7, 3].map((port) => ({ path: ["1", "2"], ports: [{ dpid: "1", port }], rate_bps: 1, delay_us: 1 }));
  const stream = { path: ["1"], spray_paths } as unknown as Stream;
  assert.deepEqual([...places([stream])], [["1:7", 0], ["1:3", 1]]);
  assert.equal(pathKey({ path: ["1", "2"], ports: [] }), "1 2");
});

test("the edge that sprays most is shown first, and gaps are counted that did not close", () => {
  const edges = new Map([["1", edge("1", [0.1], 1)], ["2", edge("2", [0.9], 1)], ["3", edge("3", [], 1)]]);
  assert.equal(busiest(edges), "2");
  assert.equal(busiest(new Map()), null);
  const none = { forwarded: 0, held: 0, unknown: 0, stray: 0, old: 0, spurious: 0 };
  assert.equal(givenUp({ ...none, gaps_filled: 100, gaps_passed: 1, gaps_timed_out: 2, gaps_over_threshold: 3, gaps_overflowed: 4, gaps_ended: 5 }), 15);
});

test("edges of a saved run have their histories, and one that was saved without edges is opened", () => {
  const empty = { schema: "braid/v1", now: second(1), switches: [], links: [], hosts: [], transfers: [], events: [] };
  const deltas = [2, 3].map((at) => ({ event: "delta", data: { schema: "braid/v1", now: second(at), edges: { set: [edge("1", [1], at)], removed: [] } } }));
  const run = Run.open(JSON.stringify({ schema: "braid/v1", run: [{ event: "snapshot", data: empty }, ...deltas] }));
  assert.equal(run.at(second(1)).edges.size, 0);
  assert.deepEqual(run.edgeHistory("1", second(3))?.times, [second(2), second(3)]);
  assert.equal(run.edgeHistory("2", second(3)), null);
});

test("edges are a table for other programs", () => {
  const view = fromSnapshot({ schema: "braid/v1", now: 0, switches: [], links: [], hosts: [], edges: [edge("1", [0.5], 1)], transfers: [], events: [] });
  assert.match(edgesCsv(view), /^edge,to,path,.*\r\n1,2,1:1,active,0\.5,50,,9,1,0,3,1,2\r\n$/);
});
