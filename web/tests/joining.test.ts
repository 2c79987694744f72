import assert from "node:assert/strict";
import { test } from "node:test";
import { moved, nearest } from "../src/domain/joining";

test("a line ends at the nearest switch within reach", () => {
  const places = [["a", { x: 0, y: 0 }], ["b", { x: 10, y: 0 }]] as const;
  assert.equal(nearest(places, { x: 6, y: 0 }, 8), "b");
  assert.equal(nearest(places, { x: 6, y: 0 }, 3), null);
  assert.equal(nearest([], { x: 0, y: 0 }, 8), null);
});

test("no line ends where it began", () => {
  const line = { from: "a", at: null, to: null };
  assert.equal(moved(line, { x: 1, y: 1 }, "a").to, null);
  assert.deepEqual(moved(line, { x: 9, y: 1 }, "b"), { from: "a", at: { x: 9, y: 1 }, to: "b" });
});
