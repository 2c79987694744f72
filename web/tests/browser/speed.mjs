// How fast the page is with a large network. Prints one line of JSON.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { compared, drawn, frames, keys, typed } from "./frames.mjs";
import { compressed, large } from "./large.mjs";
import { launch } from "./launch.mjs";
import { pods } from "./pods.mjs";

const { values, positionals } = parseArgs({ options: { switches: { type: "string" } }, allowPositionals: true });
const SECONDS = Number(positionals[0] ?? 10);
const rounded = (value) => Number(value.toFixed(1));

async function eighty(browser) {
  const server = await large();
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const began = performance.now();
  await page.goto(server.address);
  await drawn(page);
  // Interactive: a key is answered.
  await page.keyboard.press("p");
  await page.waitForFunction(() => /paused/.test(document.querySelector(".state").textContent));
  const interactive = performance.now() - began;
  await page.close();
  server.close();
  const { empty, full, ratio, longest_ms } = await compared(browser, SECONDS);
  return {
    interactive_ms: Math.round(interactive), frames_per_second: rounded(full), longest_frame_ms: Math.round(longest_ms),
    empty_page_frames_per_second: rounded(empty), ratio: Number(ratio.toFixed(2)), compressed_bytes: compressed(),
  };
}

/** Megabytes that the tab's process occupies. */
async function memory(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const resident = (id) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, "utf8"))[1]) / 1024;
  return Math.max(...processInfo.filter((it) => it.type === "renderer").map((it) => resident(it.id)));
}

/** Frames with each of the long tables open, and how long the page works on a filter that is typed there. */
async function tables(page, seconds) {
  const found = {};
  for (const name of ["links", "switches", "hosts"]) {
    await page.getByRole("tab", { name: new RegExp(`^${name}`, "i") }).click();
    await page.waitForTimeout(1_500);
    const { per_second, longest_ms } = await frames(page, seconds);
    found[name] = { frames_per_second: rounded(per_second), longest_frame_ms: Math.round(longest_ms), filter_ms: Math.round(await typed(page, "pod7")) };
  }
  return found;
}

async function ofPods(browser, wanted) {
  const network = pods(wanted);
  const server = await large(network);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  const began = performance.now();
  await page.goto(server.address);
  await page.waitForFunction((groups) => document.querySelectorAll("#map .group").length === groups, network.groups, { timeout: 120_000 });
  const shown = performance.now() - began;
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  // What is done once is over after some seconds.
  await page.waitForTimeout(5_000);
  const full = await frames(page, SECONDS);
  const answers = await keys(page, 9);
  const open = await tables(page, Math.min(SECONDS, 5));
  const occupied = await memory(browser);
  await page.goto(`${server.address}empty`);
  const empty = await frames(page, SECONDS);
  server.close();
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return {
    switches: network.switches, links: network.links, hosts: network.hosts, streamed_links: network.shown.links, streamed_hosts: network.shown.hosts, groups: network.groups,
    first_paint_ms: Math.round(paint), map_ms: Math.round(shown), frames_per_second: rounded(full.per_second), longest_frame_ms: Math.round(full.longest_ms),
    key_p50_ms: Math.round(answers[4]), key_max_ms: Math.round(answers[8]), tables: open, memory_mb: Math.round(occupied),
    empty_page_frames_per_second: rounded(empty.per_second), ratio: Number((full.per_second / empty.per_second).toFixed(2)), compressed_bytes: compressed(),
  };
}

const browser = await launch();
const found = values.switches === undefined ? await eighty(browser) : await ofPods(browser, Number(values.switches));
console.log(JSON.stringify(found));
await browser.close();
