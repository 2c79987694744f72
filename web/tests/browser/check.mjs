// What a person sees of a network that works and breaks. Each step prints a line; the first that fails ends the run.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addedAndRemoved } from "./added.mjs";
import { hostile } from "./hostile.mjs";
import { launch } from "./launch.mjs";
import { parallel } from "./parallel.mjs";
import { maps } from "./map.mjs";
import { rulesOf } from "./rules.mjs";
import { views } from "./views.mjs";
import { joinSwitches, on, PAGE, startController, stop, stopAll } from "./lab.mjs";

const PATIENCE = 40_000;
const SCREENSHOTS = process.env.BRAID_SCREENSHOTS;
let [passed, controller, page] = [0, null, null];

async function step(name, act) {
  const began = performance.now();
  const result = await act().catch(async (error) => {
    if (page) {
      await screenshot(page, "failed.png");
      console.log(await page.locator("#transfers").innerText({ timeout: 1000 }).catch(() => "no transfers are shown"));
    }
    throw error;
  });
  passed += 1;
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(`ok: ${name}${result ? ` (${result})` : ""}, ${seconds} s`);
}

/** Waits until the page says so. */
const until = (page, what, argument) => page.waitForFunction(what, argument, { timeout: PATIENCE, polling: 100 });

const summary = (page, text) => until(page, (it) => document.querySelector("#summary")?.textContent.includes(it), text);

const tab = (page, name) => page.getByRole("tab", { name }).click();

const strokes = (page) => page.locator("#map .stream").evaluateAll((all) => all.map((it) => it.getAttribute("stroke")));

/** Colours that cover a part of the plot, as #rrggbb. */
const plotted = (page) =>
  page.locator("#throughput canvas").evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const counts = new Map();
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] !== 255) continue;
      const colour = `#${[0, 1, 2].map((it) => data[at + it].toString(16).padStart(2, "0")).join("")}`;
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
    return [...counts].filter(([, count]) => count > 500).map(([colour]) => colour);
  });

/** Until plots have a past worth showing. */
const age = async (page) => SCREENSHOTS && page.waitForTimeout(8000);

async function screenshot(page, name) {
  if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, name) });
}

async function main() {
  const browser = await launch();
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !/net::ERR|Failed to load resource/.test(message.text())) problems.push(message.text());
  });
  controller = await startController();
  joinSwitches(["ams1", "ams2", "gva1", "gva2"]);

  await step("the page shows the network without a reload", async () => {
    const began = performance.now();
    await page.goto(PAGE);
    await page.locator("#summary").waitFor();
    const ready = performance.now() - began;
    await summary(page, "4 switches, 8 links");
    assert.equal(await page.locator("#map .link").count(), 4);
    assert.equal(await page.getByRole("alert").count(), 0);
    return `there after ${ready.toFixed(0)} ms`;
  });

  await step("the streams of a transfer appear on the map and in the plot in the same colours", async () => {
    on("gva", "mptcpize", "run", "iperf3", "--server");
    // The controller does not believe ports to lead to hosts before it has listened for links there.
    await page.waitForTimeout(5000);
    on("ams", "mptcpize", "run", "iperf3", "--client", "10.0.1.2", "--time", "300");
    await until(page, () => document.querySelectorAll("#map .stream").length >= 2);
    const colours = await strokes(page);
    assert.equal(new Set(colours).size, colours.length);
    const missing = async () => {
      const seen = await plotted(page);
      return colours.filter((it) => !seen.includes(it));
    };
    const end = Date.now() + PATIENCE;
    while ((await missing().catch(() => colours)).length > 0) {
      assert.ok(Date.now() < end, `not in the plot: ${await missing()}`);
      await page.waitForTimeout(500);
    }
    await until(page, () => /1[0-9]{2} Mbit/.test(document.querySelector('#transfers tr[aria-selected="true"]')?.textContent ?? ""));
    await age(page);
    await screenshot(page, "page-light.png");
    return colours.join(" ");
  });

  await step("the rules of a switch are read, with what each of them and its group is for", () => rulesOf(browser, "ams1"));

  const link = page.locator('#testbed tr[data-link="ams1 – gva1"]');
  await step("a link is cut from the page: it is dashed, told, and the transfer leaves it", async () => {
    await tab(page, /^Testbed/);
    await link.getByRole("button", { name: "Cut ams1 – gva1" }).click();
    assert.equal(await page.locator("#map .link.failed").count(), 0, "nothing is cut before it is confirmed");
    await page.getByRole("dialog").getByRole("button", { name: "Cut ams1 – gva1" }).click();
    await until(page, () => document.querySelector("#map .link.failed"));
    await until(page, () => /Link ams1 – gva1 is down/.test(document.querySelector("#overview")?.textContent ?? ""));
    await tab(page, /^Events/);
    await until(page, () => /is down: its port is down/.test(document.querySelector("#events")?.textContent ?? ""));
    await until(page, () =>
      [...document.querySelectorAll("#map .stream title")].every((it) => !/\bams1 > gva1\b|\bgva1 > ams1\b/.test(it.textContent)),
    );
    await page.emulateMedia({ colorScheme: "dark" });
    await page.waitForTimeout(8000);
    await page.evaluate(() => scrollTo(0, 0));
    await screenshot(page, "page-dark.png");
    await page.emulateMedia({ colorScheme: "light" });
    // Only what concerns the transfer is marked, and what happened at once is one mark.
    assert.equal(await page.locator("#markers li").count(), 1);
    assert.ok(!/[0-9a-f]{16}/.test(await page.locator("#events").innerText()), "names stand where datapath ids were");
    await tab(page, /^Testbed/);
    await link.getByRole("button", { name: "Restore" }).click();
    await until(page, () => !document.querySelector("#map .link.failed"));
  });

  await step("a link's rate is changed from the page, and what it cannot take is told", async () => {
    await link.getByRole("button", { name: "Change" }).click();
    const form = page.locator("#testbed form");
    await form.getByLabel("Rate").fill("20");
    await form.getByRole("button").click();
    await until(page, () => /20.0 Mbit/.test(document.querySelector('#testbed tr[data-link="ams1 – gva1"]').textContent));
    await link.getByRole("button", { name: "Change" }).click();
    await form.getByLabel("Delay").fill("50");
    await form.getByRole("button").click();
    const told = await page.locator("#testbed [role=alert]").textContent();
    assert.match(told, /ams1/);
    await form.getByLabel("Delay").fill("0");
    await form.getByLabel("Rate").fill("100");
    await form.getByRole("button").click();
    await until(page, () => !document.querySelector("#testbed form"));
    return told;
  });

  await step("a link is added by the form in a switch's details, discovered, and removed", () => addedAndRemoved(page));

  await step("what is shown is saved, and a saved run is opened without a controller", async () => {
    const save = async (name) => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save").selectOption(name)]);
      const path = join(tmpdir(), `braid-page-${process.pid}-${name}`);
      await download.saveAs(path);
      return path;
    };
    const text = async (name) => readFileSync(await save(name), "utf8");
    assert.match(await text("throughput.csv"), /^seconds,10\.0\.[12]\./);
    assert.match(await text("links.csv"), /^from,to,capacity_bps/);
    assert.match(await text("throughput.svg"), /<polygon fill="#0072b2"/);
    assert.match(await text("map.svg"), /<polyline[^>]* stroke="#0072b2"|<polyline[^>]* stroke="rgb\(0, 114, 178\)"/);
    for (const name of ["map.png", "throughput.png"]) assert.deepEqual([...readFileSync(await save(name)).subarray(1, 4)], [...Buffer.from("PNG")]);
    assert.equal(JSON.parse(await text("braid-state.json")).switches.length, 4);
    const run = await save("braid-run.json");
    if (SCREENSHOTS) writeFileSync(join(SCREENSHOTS, "run.json"), readFileSync(run));
    await page.locator("#open").setInputFiles(run);
    await page.getByRole("group", { name: "Recorded run" }).waitFor();
    await page.getByLabel("Time").focus();
    await page.keyboard.press("End");
    await until(page, () => /4 switches/.test(document.querySelector("#summary").textContent));
    await until(page, () => document.querySelectorAll("#map .stream").length >= 2);
    assert.equal(await page.locator("#testbed").count(), 0);
    await page.getByRole("button", { name: "Back to the controller" }).click();
    const wrong = join(tmpdir(), `braid-page-${process.pid}-wrong.json`);
    writeFileSync(wrong, "[]");
    await page.locator("#open").setInputFiles(wrong);
    assert.match(await page.getByRole("alert").first().textContent(), /cannot be opened/);
    await page.locator("#open").setInputFiles(run);
    await page.getByRole("button", { name: "Back to the controller" }).click();
    return `${(readFileSync(run).length / 1e6).toFixed(1)} MB`;
  });

  await step("the past of the controller is looked at, and the present again", async () => {
    await page.getByLabel("Time").focus();
    await page.keyboard.press("Home");
    await until(page, () => /recorded at/.test(document.querySelector(".state").textContent));
    assert.equal(await page.locator("#map .stream").count(), 0, "the transfer had not begun");
    await page.getByRole("button", { name: "Back to the controller" }).click();
    await until(page, () => /controller up/.test(document.querySelector(".state").textContent));
  });

  await step("events are filtered from the keyboard, and the page is held", async () => {
    await tab(page, /^Events/);
    await page.keyboard.press("/");
    await page.keyboard.type("link DOWN");
    const rows = page.locator("#events tbody tr");
    await until(page, () => [...document.querySelectorAll("#events tbody tr")].every((it) => /link/.test(it.textContent)));
    assert.ok((await rows.count()) > 0);
    await page.locator("#filter").fill("");
    await page.locator("h1").click();
    await page.keyboard.press("p");
    const held = await page.locator(".state").textContent();
    await page.waitForTimeout(2500);
    assert.equal(await page.locator(".state").textContent(), held);
    await page.keyboard.press("p");
    await until(page, () => /controller up/.test(document.querySelector(".state").textContent));
  });

  await step("a transfer is chosen from the keyboard", async () => {
    await tab(page, /^Transfers/);
    await page.locator("#transfers tbody tr").first().focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.locator('#transfers tr[aria-selected="true"]').count(), 1);
  });

  await step("a controller that is away is said to be, and one that is back is followed", async () => {
    await stop(controller);
    await page.getByRole("alert").waitFor({ timeout: PATIENCE });
    assert.match(await page.getByRole("alert").textContent(), /Stale/);
    assert.match(await page.locator("#summary").textContent(), /4 switches/);
    controller = await startController();
    await page.getByRole("alert").waitFor({ state: "detached", timeout: PATIENCE });
    await summary(page, "4 switches, 8 links");
  });

  await step("it fits on a phone", async () => {
    await page.locator("h1").click();
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 390, height: 800 });
    await page.evaluate(() => scrollTo(0, 0));
    await until(page, () => document.documentElement.scrollWidth <= innerWidth);
    await age(page);
    await screenshot(page, "page-phone.png");
  });

  await step("a network that stands on the Earth is drawn on it, and pods as one until they are opened", () => maps(browser, SCREENSHOTS));
  await step("names with markup stay text", () => hostile(browser));
  await step("links that join the same two switches are changed one by one", () => parallel(browser));
  await step("every view is as it should be, and axe-core finds nothing", () => views(browser, SCREENSHOTS));
  assert.deepEqual(problems, []);
  await browser.close();
}

main()
  .then(() => console.log(`${passed} passed, 0 failed`))
  .catch((error) => {
    console.error(error);
    console.log(`${passed} passed, 1 failed`);
    process.exitCode = 1;
  })
  .finally(() => {
    stopAll();
    process.exit();
  });
