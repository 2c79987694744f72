// What a person sees of edges that spray a plain TCP flow. The lab and its controller are there; started by tests/page/edges.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { launch } from "./launch.mjs";

const { BRAID: braid, BRAID_LAB: lab, BRAID_PAGE: address, BRAID_SCREENSHOTS: folder } = process.env;
const PATIENCE = 40_000;
const running = [];
const on = (host, ...command) => running.push(spawn(braid, ["lab", "exec", lab, host, "--", ...command], { stdio: ["ignore", "ignore", "inherit"] }));

async function main() {
  const browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  const until = (what, argument) => page.waitForFunction(what, argument, { timeout: PATIENCE, polling: 100 });
  // Edges measure their paths, on a busy machine now and then again: what is compared may have changed in between.
  const settle = async (look) => {
    for (const end = Date.now() + PATIENCE; ; await page.waitForTimeout(500)) {
      try {
        return await look();
      } catch (error) {
        if (Date.now() > end) throw error;
      }
    }
  };

  on("right", "iperf3", "--server");
  await page.goto(address);
  await page.getByRole("tab", { name: /^Edges/ }).click({ timeout: PATIENCE });
  await page.locator("#edges").waitFor({ timeout: PATIENCE });
  await until(() => /Nothing is sprayed/.test(document.querySelector("#edges").textContent));
  console.log("ok: edges are there before they do anything");

  await page.waitForTimeout(4000);
  on("left", "iperf3", "--client", "10.0.0.2", "--time", "120");
  await until(() => document.querySelectorAll("#edges .paths tbody tr").length === 2);
  await until(() => [...document.querySelectorAll("#edges .paths tbody tr")].every((it) => /Mbit\/s/.test(it.textContent)));
  await page.waitForTimeout(12_000);
  const shares = await settle(async () => {
    const shares = await page.locator("#edges .paths tbody tr td:nth-child(2)").allTextContents();
    const sum = shares.map(parseFloat).reduce((a, b) => a + b);
    assert.ok(shares.length === 2 && Math.abs(sum - 100) <= 2, `${shares}`);
    return shares;
  });
  console.log(`ok: each path has its share (${shares.join(", ")})`);

  const colour = (selector) => page.locator(selector).evaluateAll((all) => all.map((it) => getComputedStyle(it)[it.tagName === "polyline" ? "stroke" : "borderTopColor"]));
  const filled = () =>
    page.locator("#edges .shares canvas").evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const counts = new Map();
      for (let at = 0; at < data.length; at += 4) {
        const colour = `rgb(${data[at]}, ${data[at + 1]}, ${data[at + 2]})`;
        if (data[at + 3] === 255) counts.set(colour, (counts.get(colour) ?? 0) + 1);
      }
      return [...counts].filter(([, count]) => count > 500).map(([colour]) => colour);
    });
  const colours = await settle(async () => {
    const [drawn, listed] = [await colour("#map .stream"), await colour("#edges .paths tbody .swatch")];
    assert.equal(new Set(listed).size, 2);
    assert.deepEqual([...new Set(drawn)].sort(), [...new Set(listed)].sort(), "the colours of the map");
    const plotted = await filled();
    for (const it of listed) assert.ok(plotted.includes(it), `${it} is not in ${plotted}`);
    return listed;
  });
  console.log(`ok: shares over time have the colours of the paths on the map (${colours.join(" ")})`);

  // The other edge puts in order what comes.
  const other = await page.locator("#edges select option").evaluateAll((all) => all.filter((it) => !it.selected).map((it) => it.value));
  await page.getByLabel("Edge", { exact: true }).selectOption(other[0]);
  await until(() => /Resequences traffic from/.test(document.querySelector("#edges").textContent));
  await until(() => /holds \d+ packets/.test(document.querySelector("#edges .order").textContent));
  await until(() => document.querySelectorAll("#edges canvas").length >= 2);
  await until(() => /gaps:\s+[1-9]\d*\s+filled/.test(document.querySelector("#edges .order").textContent));
  const order = (await page.locator("#edges .order").first().textContent()).replace(/\s+/g, " ");
  console.log(`ok: what is held, and for how long (${order.trim()})`);
  if (folder) await page.locator("#edges").screenshot({ path: join(folder, "page-edges-order.png") });
  const spraying = await page.locator("#edges select option").evaluateAll((all) => all.filter((it) => !it.selected).map((it) => it.value));
  await page.getByLabel("Edge", { exact: true }).selectOption(spraying[0]);
  await page.waitForTimeout(1500);
  if (folder) await page.locator("#edges").screenshot({ path: join(folder, "page-edges.png") });

  const [file] = await Promise.all([page.waitForEvent("download"), page.locator("#save").selectOption("edges.csv")]);
  assert.equal(file.suggestedFilename(), "edges.csv");
  await page.setViewportSize({ width: 390, height: 800 });
  await until(() => document.documentElement.scrollWidth <= innerWidth);
  console.log("ok: it is saved as a table, and fits on a phone");
  assert.deepEqual(problems, []);
  await browser.close();
}

main()
  .then(() => console.log("0 failed"))
  .catch((error) => {
    console.error(error);
    process.exitCode = 1;
  })
  .finally(() => {
    running.forEach((it) => it.kill("SIGKILL"));
    process.exit();
  });
