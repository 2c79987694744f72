// What the page does so that networks of thousands of switches stay quick, gives what the plain way does.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Host, Link, Snapshot } from "../src/domain/api";
import { isPartial, ofPort, others, search, totalOf } from "../src/domain/beyond";
import { first, firstByName } from "../src/domain/first";
import { fold, members } from "../src/domain/fold";
import { layered } from "../src/domain/layers";
import { byAddress } from "../src/domain/overlay";
import { empty, fromSnapshot, portName, withDelta, type View } from "../src/domain/view";
import { wiring } from "../src/domain/wiring";

/** The same numbers each time. */
function* numbers(count: number): Generator<number> {
  for (let value = 1, at = 0; at < count; at += 1) yield (value = (value * 48_271) % 2_147_483_647);
}

test("the first items are those of a sorted list, alike ones in their order", () => {
  const items = [...numbers(500)].map((it, nth) => ({ key: it % 20, nth }));
  const order = (a: (typeof items)[number], b: (typeof items)[number]) => a.key - b.key;
  for (const most of [0, 1, 7, 200, 500, 900]) assert.deepEqual(first(items, most, order), [...items].sort(order).slice(0, most), String(most));
  assert.deepEqual(firstByName(["s10", "s9", "s100", "s2"], 3, (it) => it), ["s2", "s9", "s10"]);
});

const link = (a: string, p: number, b: string, capacity_bps: number, load_bps = 0): [string, Link] => {
  const it = { src: { dpid: a, port: p }, dst: { dpid: b, port: 9 }, capacity_bps, load_bps } as Link;
  return [portName(it.src), it];
};

test("the wiring stays the same while links only carry more or less", () => {
  const links: View["links"] = new Map([link("1", 1, "2", 5), link("1", 2, "2", 7), link("2", 9, "1", 7)]);
  const before = wiring(links);
  assert.deepEqual(before.out.get("1")?.get("2"), { sum: 12, widest: 7, port: "1:2" });
  assert.deepEqual([before.into.get("2"), before.into.get("1")], [12, 7]);
  assert.equal(wiring(new Map([...links, link("1", 1, "2", 5, 3)])), before);
  assert.notEqual(wiring(new Map([...links, link("1", 1, "2", 6)])), before);
  assert.notEqual(wiring(new Map([...links, link("1", 1, "3", 5)])), before);
  assert.deepEqual(wiring(new Map([...links].slice(0, 1))).out.get("1")?.get("2"), { sum: 5, widest: 5, port: "1:1" });
});

test("hosts are found by address once for each state of them", () => {
  const hosts = new Map([["m", { mac: "m", addresses: ["10.0.0.1", "fd00::1"] }]]) as unknown as View["hosts"];
  assert.equal(byAddress(hosts).get("fd00::1")?.mac, "m");
  assert.equal(byAddress(hosts), byAddress(hosts));
  assert.equal(byAddress(empty.hosts).size, 0);
});

test("switches without a group are folded by their datapath ids where they are too many to be drawn", () => {
  const id = (at: number) => at.toString(16).padStart(16, "0");
  const switches = (count: number) => new Map(Array.from({ length: count }, (_, at) => [id(at + 1), { dpid: id(at + 1), group: at < 3 ? "core" : null }] as const));
  assert.equal(members(fold(switches(300), new Set())).size, 1, "those that can be drawn stay");
  const all = members(fold(switches(503), new Set()));
  assert.equal(all.size, 9);
  assert.deepEqual([all.get("group core")?.length, all.get("group 4 – 43")?.length], [3, 64]);
  assert.deepEqual([...all.values()].flat().length, 503);
  const open = fold(switches(503), new Set(["4 – 43"]));
  assert.equal(open.get(id(4)), id(4));
});

test("a tier that is too long for a row takes several, to be read from above", () => {
  const pods = Array.from({ length: 25 }, (_, at) => `pod${at + 1}`);
  const { places, rows, wrapped } = layered(["core", ...pods], pods.map((it) => [it, "core"] as const), 10) ?? { places: new Map() };
  assert.deepEqual([rows, wrapped, places.get("core")?.y], [4, true, 0]);
  const y = (at: number) => places.get(`pod${at}`)?.y;
  assert.ok(y(1) > 0 && y(1) < y(11) && y(11) < y(25) && y(25) === 1);
  assert.equal(places.get("pod1")?.x, places.get("pod21")?.x, "in columns");
  assert.equal(layered(["core", ...pods], pods.map((it) => [it, "core"] as const))?.wrapped, false);
});

test("the page knows of how much it is told a part", () => {
  const lists = { switches: [], links: [], hosts: [], edges: [], transfers: [], events: [] };
  const snapshot: Snapshot = { schema: "braid/v1", now: 1, ...lists, totals: { links: 4, hosts: 0, transfers: 9 } };
  const view = fromSnapshot(snapshot);
  assert.deepEqual([isPartial(view, "links"), isPartial(view, "hosts"), totalOf(view, "transfers")], [true, false, 9]);
  const later = withDelta(view, { schema: "braid/v1", now: 2, totals: { links: 0, hosts: 3, transfers: 9 } });
  assert.deepEqual([isPartial(later, "links"), isPartial(later, "hosts")], [false, true]);
  assert.equal(withDelta(later, { schema: "braid/v1", now: 3 }).totals, later.totals, "until it is told again");
  const earlier = fromSnapshot({ schema: "braid/v1", now: 1, ...lists });
  assert.deepEqual([isPartial(earlier, "links"), totalOf(earlier, "links")], [false, 0]);
});

test("a search reads pages until it has enough or there are no more", async () => {
  const host = (mac: string) => ({ mac }) as Host;
  const asked: string[] = [];
  const pages: Record<string, unknown> = {
    "/api/v1/hosts?filter=a%3Db&limit=2": { next_cursor: "x", hosts: [] },
    "/api/v1/hosts?filter=a%3Db&limit=2&cursor=x": { next_cursor: "y", hosts: [host("1")] },
    "/api/v1/hosts?filter=a%3Db&limit=1&cursor=y": { next_cursor: "z", hosts: [host("2")] },
    "/api/v1/hosts?filter=a%3Db&limit=9": { next_cursor: null, hosts: [host("3")] },
  };
  const ask = async (address: string) => (asked.push(address), pages[address]);
  const found = await search("hosts", "a=b", 2, ask);
  assert.deepEqual([found, asked], [[host("1"), host("2")], Object.keys(pages).slice(0, 3)]);
  assert.deepEqual(await search("hosts", "a=b", 9, ask), [host("3")]);
  const view = { ...empty, hosts: new Map([["1", host("1")]]) };
  assert.deepEqual(others(view, found), [host("2")]);
  assert.equal(ofPort("2a:7"), "src.dpid=2a src.port=7");
});
