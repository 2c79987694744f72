import assert from "node:assert/strict";
import { test } from "node:test";
import type { Host } from "../src/domain/api";
import { fromHash, toHash } from "../src/domain/address";
import { availableOf, fromNode, ofAssignment, ofPaths, readQuery, told, writeQuery, type Assignment, type PathSet } from "../src/domain/sketch";
import { empty, type View } from "../src/domain/view";

const [A, B, C] = ["000000000000000a", "000000000000000b", "000000000000000c"];
const host = { mac: "52:54:00:00:00:01", name: "dtn1", at: { dpid: A, port: 9 }, addresses: ["10.0.0.1", "fd00::1"], last_seen: 0 } as unknown as Host;
const view: View = { ...empty, hosts: new Map([[host.mac, host]]) };
const link = (a: string, p: number, b: string, q: number) => ({ src: { dpid: a, node: a, port: p }, dst: { dpid: b, node: b, port: q }, parallel: false });
const set = (more: Partial<PathSet> = {}): PathSet => ({
  schema: "", now: 0, src: { name: "DTN1", dpid: A, node: "a", also_at: [] }, dst: { name: "b", dpid: B, node: "b", also_at: [] }, mode: "disjoint", weight: "hops", k: 2, complete: true, truncated: false, warnings: [],
  paths: [{ hops: 2, nodes: ["a", "c", "b"], links: [link(A, 1, C, 1), link(C, 2, B, 1)], shared_links: 0 }], ...more,
});

test("paths that were found are drawn by their ports, from the host that was asked about", () => {
  assert.deepEqual(ofPaths(view, set()), [{ id: 1, src: "10.0.0.1", dst: "", path: [A, C, B], ports: [{ dpid: A, port: 1 }, { dpid: C, port: 2 }] }]);
  assert.equal(ofPaths(view, set({ src: { name: "dtn1", dpid: B, node: "b", also_at: [] } }))[0]?.src, "", "a host elsewhere is another one");
});

test("the paths of an assignment are drawn, and their room is what they have together", () => {
  const it = { src: "10.0.0.1", dst: "10.0.0.2", paths: [{ switches: [A, B], available_bps: 3 }, { switches: [A, C, B], available_bps: 4 }] } as unknown as Assignment;
  assert.deepEqual(ofAssignment(it).map(({ id, path }) => [id, path]), [[1, [A, B]], [2, [A, C, B]]]);
  assert.equal(availableOf(it), 7);
});

test("a question for paths stands in the address, and what it does not say is the usual", () => {
  const query = { src: "ams 1", dst: "10.0.0.1", mode: "ksp", k: "3", weight: "latency" };
  assert.deepEqual(readQuery(writeQuery(query)), query);
  const looked = { tab: "links", filter: "", selection: { kind: "paths" as const, id: writeQuery(query) } };
  assert.deepEqual(fromHash(toHash(looked, "transfers"), ["transfers", "links"]), looked);
  assert.deepEqual(readQuery("src=a&mode=teleport"), { src: "a", dst: "", mode: "disjoint", k: "4", weight: "hops" });
  assert.equal(readQuery(fromNode("ams1")).src, "ams1");
});

test("an answer says what it leaves open", () => {
  assert.deepEqual(told(set({ k: 1 })), []);
  assert.deepEqual(told(set({ paths: [], explanation: "no links lead there" })), ["No path: no links lead there."]);
  const [path] = set().paths as [PathSet["paths"][number]];
  assert.deepEqual(told(set({ k: 3, paths: [path, { ...path, shared_links: 1 }], complete: false, warnings: ["w"] })), [
    "2 of 3: there are no more of this kind.", "The search was not completed: there may be better ones.", "1 of them shares links with better ones.", "Note: w.",
  ]);
});
