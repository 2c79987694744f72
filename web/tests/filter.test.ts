import assert from "node:assert/strict";
import { test } from "node:test";
import { filter } from "../src/domain/filter";
import cases from "./filter.json";

test("items are chosen as by the command", () => {
  for (const [text, expected] of cases.cases as [string, boolean | null][]) {
    const read = filter(text);
    assert.equal(read.fits ? read.fits(cases.item) : null, expected, text);
    assert.equal(read.error === null, expected !== null, text);
  }
});
