import assert from "node:assert/strict";
import { test } from "node:test";
import type { Host, Link, Transfer } from "../src/domain/api";
import { bounds } from "../src/domain/bounds";
import { empty, portName, type View } from "../src/domain/view";

let port = 0;
const link = (a: string, b: string, capacity_bps: number): Link[] => {
  port += 2;
  const ends = [{ dpid: a, port }, { dpid: b, port: port + 1 }] as const;
  const link = (src: Link["src"], dst: Link["dst"]) => ({ src, dst, capacity_bps }) as Link;
  return [link(...ends), link(ends[1], ends[0])];
};
const view = (...links: Link[][]): View => {
  const hosts = ["1", "9"].map((dpid) => ({ mac: dpid, at: { dpid, port: 99 }, addresses: [`10.0.0.${dpid}`] }) as unknown as Host);
  return { ...empty, links: new Map(links.flat().map((it) => [portName(it.src), it])), hosts: new Map(hosts.map((it) => [it.mac, it])) };
};
const transfer = (src: string, dst: string) => ({ id: 1, streams: [{ src, dst }] }) as unknown as Transfer;
const between = (it: View, src = "10.0.0.1", dst = "10.0.0.9") => bounds(it, transfer(src, dst));

test("one path carries what its narrowest link does, and all paths the greatest flow", () => {
  const it = view(link("1", "2", 100), link("2", "9", 60), link("1", "3", 50), link("3", "9", 80));
  assert.deepEqual(between(it), { one: 60, all: 110 });
  assert.deepEqual(between(it, "10.0.0.9", "10.0.0.1"), { one: 60, all: 110 });
});

test("a flow is taken back where that lets more through", () => {
  // The shortest path 1-2-3-9 takes what both others need.
  const line = [link("1", "2", 1), link("2", "3", 1), link("3", "9", 1), link("1", "4", 1), link("4", "5", 1), link("5", "3", 1)];
  const more = [link("2", "6", 1), link("6", "7", 1), link("7", "9", 1)];
  assert.deepEqual(between(view(...line, ...more)), { one: 1, all: 2 });
});

test("parallel links are one path each", () => {
  assert.deepEqual(between(view(link("1", "9", 50), link("1", "9", 100))), { one: 100, all: 150 });
});

test("nothing is said of ends that are not known, or on one switch, or not joined", () => {
  assert.equal(between(view(link("1", "9", 5)), "10.0.0.7"), null);
  assert.equal(between(view(link("1", "9", 5)), "10.0.0.1", "10.0.0.1"), null);
  assert.equal(between(view(link("1", "2", 5))), null);
});

test("a link that changes counts at once", () => {
  const links = [link("1", "9", 50), link("1", "9", 100)];
  assert.equal(between(view(...links))?.all, 150);
  assert.equal(between(view(links[0] as Link[]))?.all, 50);
});
