import assert from "node:assert/strict";
import { test } from "node:test";
import { labels } from "../src/domain/labels";
import { layered } from "../src/domain/layers";
import type { Point } from "../src/domain/layout";
import { ribbons, type Ribbon } from "../src/domain/ribbons";

/** Pods of two edges and two aggregations, and four cores. */
function fatTree(): { nodes: string[]; edges: [string, string][] } {
  const edges: [string, string][] = [];
  for (const pod of [1, 2, 3, 4])
    for (const a of [1, 2])
      for (const b of [1, 2]) edges.push([`e${pod}.${a}`, `a${pod}.${b}`], [`a${pod}.${a}`, `c${(a - 1) * 2 + b}`]);
  return { nodes: [...new Set(edges.flat())], edges };
}

test("a FatTree has a row for each tier, and its pods stand together", () => {
  const { nodes, edges } = fatTree();
  const places = layered(nodes, edges)?.places;
  assert.ok(places);
  const y = (name: string) => places.get(name)?.y;
  assert.deepEqual(["c1", "c4", "a1.1", "a4.2", "e2.1", "e4.2"].map(y), [0, 0, 0.5, 0.5, 1, 1]);
  const order = nodes.filter((it) => it.startsWith("e")).sort((a, b) => places.get(a)!.x - places.get(b)!.x);
  assert.deepEqual(order, ["e1.1", "e1.2", "e2.1", "e2.2", "e3.1", "e3.2", "e4.1", "e4.2"]);
  const gap = (a: string, b: string) => places.get(b)!.x - places.get(a)!.x;
  assert.ok(gap("e1.2", "e2.1") > gap("e1.1", "e1.2") * 1.5);
  assert.deepEqual(layered(["core", "1", "2", "3"], [["core", "1"], ["core", "2"], ["core", "3"]])?.places.get("core"), { x: 0.5, y: 0 });
});

test("rings, meshes, lines and diamonds have no tiers", () => {
  const pairs = (text: string) => text.split(" ").map((it) => [...it] as unknown as [string, string]);
  for (const text of ["ab bc cd da", "ab bc ca", "ab bc cd", "ab ac bd cd", "ab bc cd de ef fa ad"]) {
    const edges = pairs(text);
    assert.equal(layered([...new Set(edges.flat())], edges), null, text);
  }
  assert.equal(layered([], []), null);
  assert.equal(layered(["a", "b", "c"], []), null);
});

const drawing = { shift: () => 0, step: 4, most: 20, radius: 0 };
const stop = (name: string, x: number, y: number) => ({ name, at: { x, y } });
const rounded = (points: Point[] | undefined) => points?.map(({ x, y }) => [Math.round(x * 10) / 10, Math.round(y * 10) / 10]);

test("ribbons on the same link lie side by side, whichever way they go and the link lies", () => {
  const [a, b, c] = [stop("a", 0, 0), stop("b", 100, 0), stop("c", 100, 100)];
  const there: Ribbon = { key: "1", stops: [a, b, c], links: ["ab", "bc"] };
  const back: Ribbon = { key: "2", stops: [c, b, a], links: ["bc", "ab"] };
  const found = ribbons([there, back], drawing);
  assert.deepEqual(rounded(found.get("1")), [[0, -2], [100, -2], [102, 0], [102, 100]]);
  assert.deepEqual(rounded(found.get("2")), [[98, 100], [98, 0], [100, 2], [0, 2]]);
  const alone = ribbons([there], drawing).get("1");
  assert.deepEqual(rounded(alone), [[0, 0], [100, 0], [100, 0], [100, 100]]);
});

test("many ribbons share the room that there is, and lie on their own one of parallel links", () => {
  const many = Array.from({ length: 11 }, (_, nth): Ribbon => ({ key: String(nth), stops: [stop("a", 0, 0), stop("b", 10, 0)], links: ["l"] }));
  const ys = [...ribbons(many, drawing).values()].map((it) => it[0]?.y ?? 0);
  assert.ok(Math.max(...ys) - Math.min(...ys) <= 20);
  const shifted = ribbons(many.slice(0, 1), { ...drawing, shift: (it) => (it === "l" ? 9 : 0) });
  assert.deepEqual(rounded(shifted.get("0")), [[0, 9], [10, 9]]);
});

test("no label covers another, and one without room is not shown", () => {
  const item = (key: string, x: number) => ({ key, text: "a long name", at: { x, y: 50 }, radius: 5, size: 10 });
  const paper = { width: 300, height: 100 };
  const apart = labels([item("a", 100), item("b", 130)], [], paper);
  assert.ok(apart.get("a")?.free && apart.get("b")?.free);
  assert.notDeepEqual([apart.get("a")?.y, apart.get("a")?.anchor], [apart.get("b")?.y, apart.get("b")?.anchor]);
  const crowd = labels(Array.from({ length: 9 }, (_, nth) => item(String(nth), 100 + nth * 4)), [], paper);
  assert.ok([...crowd.values()].some((it) => !it.free));
  const crossed = labels([item("a", 100)], [{ from: { x: 100, y: 50 }, to: { x: 100, y: 0 } }], paper).get("a");
  assert.ok(crossed && crossed.y > 50, "where no line is, if there is such a place");
});
