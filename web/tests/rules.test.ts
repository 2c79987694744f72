import assert from "node:assert/strict";
import { test } from "node:test";
import { byTable, type Rule } from "../src/domain/rules";

const rule = (table: number, priority: number, table_name: string | null) => ({ table, priority, table_name }) as unknown as Rule;

test("rules are shown table by table, in their order", () => {
  const rules = [rule(0, 9, "admit"), rule(0, 5, "admit"), rule(7, 1, null)];
  const told = byTable({ rules }).map(({ number, name, rules }) => [number, name, rules.map((it) => it.priority)]);
  assert.deepEqual(told, [[0, "admit", [9, 5]], [7, null, [1]]]);
  assert.deepEqual(byTable({ rules: [] }), []);
});
