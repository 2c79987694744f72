import assert from "node:assert/strict";
import { test } from "node:test";
import { fold, folded, foldedPath, MAX_SWITCHES } from "../src/domain/fold";
import { decode, drawn, placed, project, type Position } from "../src/domain/geography";
import type { MapLink } from "../src/domain/overlay";

const at = (latitude: number, longitude: number): Position => ({ latitude, longitude });
const same = (point: { x: number; y: number }) => point;

test("places on Earth are drawn to scale, north up", () => {
  const projection = project([at(52.4, 4.9), at(46.2, 6.1)], 1);
  const [ams, gva] = [projection?.point(at(52.4, 4.9)), projection?.point(at(46.2, 6.1))];
  assert.ok(ams && gva && ams.y < gva.y && ams.x < gva.x);
  assert.ok(Math.abs(ams.y) < 1e-6 && Math.abs(gva.y - 1) < 1e-6);
  // A degree of longitude is as long as 0.65 of latitude there.
  assert.ok(Math.abs((gva.x - ams.x) / (gva.y - ams.y) - (1.2 * Math.cos((49.3 * Math.PI) / 180)) / 6.2) < 1e-6);
  assert.equal(project([], 1), null);
});

test("networks across the Pacific are not drawn around the whole Earth", () => {
  const [tokyo, honolulu] = [at(35.7, 139.7), at(21.3, -157.9)];
  const projection = project([tokyo, honolulu], 1.7);
  assert.ok(projection);
  const [west, east] = [projection.point(tokyo), projection.point(honolulu)];
  assert.ok(west.x > -1e-9 && west.x < east.x && east.x < 1 + 1e-9, `${west.x} ${east.x}`);
  const line = [at(30, 179), at(30, -179)];
  assert.equal(drawn([line], projection, same).match(/M/g)?.length, 1, "the date line is no border");
  const far = project([at(0, -20), at(0, 20)], 1);
  assert.ok(far);
  assert.equal(drawn([line], far, same), "", "what is not in the picture is not drawn");
  assert.ok(far.graticule.length > 6 && far.graticule.length < 40);
});

test("switches of one site are drawn beside each other", () => {
  const sites = new Map([["a", at(52, 5)], ["b", at(52, 5)], ["c", at(46, 6)]]);
  const projection = project([...sites.values()], 1);
  assert.ok(projection);
  const places = placed(sites, projection, 1);
  const [a, b, c] = ["a", "b", "c"].map((it) => places.get(it));
  assert.ok(a && b && c && Math.hypot(a.x - b.x, a.y - b.y) > 0.05);
  assert.deepEqual(c, projection.point(at(46, 6)));
});

test("a map's arcs are steps in a grid", () => {
  const arcs = decode({ transform: { scale: [2, 1], translate: [-180, -90] }, arcs: [[[90, 90], [1, -2]]] });
  assert.deepEqual(arcs, [[at(0, 0), at(-2, 2)]]);
});

const link = (a: string, b: string, load: number | null, up = true): MapLink => ({ key: `${a} ${b}`, ends: [a, b], load, directed: [], failed: !up });

test("groups of large networks are drawn as one, until they are opened", () => {
  const pods = Array.from({ length: MAX_SWITCHES }, (_, at) => ({ dpid: String(at), group: `pod${at % 2}` }));
  const switches = new Map([...pods, { dpid: "core", group: null }, { dpid: "alone", group: "one" }].map((it) => [it.dpid, it]));
  const all = fold(switches, new Set());
  assert.deepEqual([all.get("0"), all.get("1"), all.get("core"), all.get("alone")], ["group pod0", "group pod1", "core", "alone"]);
  const links = [link("0", "2", 1), link("0", "core", 0.2, false), link("2", "core", 0.4), link("1", "3", null)];
  assert.deepEqual(folded(links, all).map((it) => [it.ends, it.load, it.failed]), [[["core", "group pod0"], 0.4, false]]);
  assert.deepEqual(foldedPath(["0", "2", "core", "1"], all), ["group pod0", "core", "group pod1"]);
  const open = fold(switches, new Set(["pod0"]));
  assert.deepEqual([open.get("0"), open.get("1")], ["0", "group pod1"]);
  const small = new Map([...switches].slice(0, 10));
  assert.deepEqual(foldedPath(["0", "2"], fold(small, new Set())), ["0", "2"]);
});
