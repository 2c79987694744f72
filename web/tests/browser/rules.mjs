// The rules of a switch, in its details: read on request, table by table, with what each is for.
import assert from "node:assert/strict";
import { PAGE } from "./lab.mjs";

const PATIENCE = 20_000;
const TABLES = ["admit", "stream", "route", "bypass", "fabric", "deliver", "syn"];

/** Asks for the rules of the switch that is shown, and what the drawer then has: each table's line, and its rules. */
export async function readRules(page) {
  await page.getByRole("button", { name: /^Read its rules/ }).click();
  const drawer = page.getByRole("region", { name: "Rules" });
  await drawer.waitFor({ timeout: PATIENCE });
  const tables = [];
  for (const table of await drawer.locator("details").all()) {
    const first = table.locator("li").first();
    assert.ok(!(await first.isVisible()), "a table is closed until it is asked for");
    await table.locator("summary").click();
    await first.waitFor();
    tables.push({ line: await table.locator("summary").innerText(), rules: await table.locator("li").allInnerTexts() });
  }
  return tables;
}

/** The drawer of a switch of the lab shows what the switch has, as the controller tells it. */
export async function rulesOf(browser, name) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(PAGE);
  await page.getByRole("button", { name: `Switch ${name}`, exact: true }).click({ timeout: PATIENCE });
  const shown = await readRules(page);
  const { rules } = await page.evaluate(async (name) => (await fetch(`/api/v1/switches/${name}/rules`)).json(), name);
  assert.deepEqual(shown.map((it) => /\((.*)\)/.exec(it.line)?.[1]), TABLES.filter((it) => rules.some((rule) => rule.table_name === it)));
  for (const { line, rules } of shown) assert.equal(Number(/: (\d+) rules?$/.exec(line)?.[1]), rules.length, line);
  const all = shown.flatMap((it) => it.rules).join("\n");
  assert.match(all, /discovery frames, to the controller[\s\S]*output:CONTROLLER/);
  assert.match(all, /stream \d+ of transfer \d+ \((forward|reverse)\), path \w+ > /);
  assert.match(all, /Group \d+: protected port: \d+ \(\w+\), or its bypass/);
  assert.match(all, /Group 1: flood group/);
  await page.close();
  return `${rules.length} rules of ${name} in ${shown.length} tables`;
}
