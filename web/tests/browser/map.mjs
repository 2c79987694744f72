// Networks that a controller only says that it has: one that stands on the Earth, and one of pods.
import assert from "node:assert/strict";
import { join } from "node:path";
import { PAGE } from "./lab.mjs";

const CITIES = { bej: [39.9, 116.41], haw: [21.31, -157.86], hkg: [22.32, 114.17], man: [14.6, 120.98], sha: [31.23, 121.47], sin: [1.35, 103.82], syd: [-33.87, 151.21], tok: [35.68, 139.69] };
const CABLES = [["syd", "haw"], ["man", "haw"], ["tok", "haw"], ["syd", "sin"], ["sin", "man"], ["sin", "hkg"], ["man", "hkg"], ["hkg", "bej"], ["sha", "bej"], ["sha", "tok"], ["syd", "tok"]];

const link = (a, p, b, q) => ({
  src: { dpid: a, port: p }, dst: { dpid: b, port: q }, capacity_bps: 1e7, delay_us: null, delay_at: null, load_bps: null, load_at: null, loss: null, loss_at: null,
});
const snapshot = (switches, links) => ({
  schema: "braid/v1", now: 1e9, switches: switches.map((it) => ({ address: null, ports: [], name: it.dpid, ...it })),
  links: links.flatMap(([a, b], at) => [link(a, at, b, at), link(b, at, a, at)]), hosts: [], edges: [], transfers: [], events: [],
});

const earth = snapshot(Object.entries(CITIES).map(([dpid, [latitude, longitude]]) => ({ dpid, position: { latitude, longitude } })), CABLES);

/** Eight pods of eight switches, and a core. */
function pods() {
  const [switches, links] = [[], []];
  for (let core = 0; core < 16; core += 1) switches.push({ dpid: `core${core}`, group: "core" });
  for (let pod = 0; pod < 8; pod += 1)
    for (let at = 0; at < 8; at += 1) {
      switches.push({ dpid: `pod${pod}-${at}`, group: `pod${pod}` });
      for (let up = 0; up < 4; up += 1) links.push(at < 4 ? [`pod${pod}-${at}`, `pod${pod}-${4 + up}`] : [`pod${pod}-${at}`, `core${(at - 4) * 4 + up}`]);
    }
  return snapshot(switches, links);
}

async function shown(browser, state) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  const body = `event: snapshot\ndata: ${JSON.stringify(state)}\n\n`;
  await page.route("**/api/v1/stream", (route) => route.fulfill({ headers: { "content-type": "text/event-stream" }, body }));
  await page.route("**/api/v1/testbed/links", (route) => route.fulfill({ json: { schema: "braid/v1", links: [] } }));
  await page.goto(PAGE);
  await page.locator("#map .link").first().waitFor();
  return page;
}

export async function maps(browser, folder) {
  const page = await shown(browser, earth);
  await page.locator("#map .coast").waitFor({ state: "attached" });
  const where = await page.locator("#map text").evaluateAll((all) => Object.fromEntries(all.map((it) => [it.textContent, [+it.getAttribute("x"), +it.getAttribute("y")]])));
  assert.ok(where.bej[0] < where.tok[0] && where.tok[0] < where.haw[0], "east is right, across the date line, too");
  assert.ok(where.bej[1] < where.hkg[1] && where.hkg[1] < where.sin[1] && where.sin[1] < where.syd[1], "north is up");
  if (folder) await page.locator("#map").screenshot({ path: join(folder, "page-map.png") });
  await page.close();

  const folded = await shown(browser, pods());
  await folded.waitForFunction(() => document.querySelectorAll("#map .group").length === 9);
  assert.equal(await folded.locator("#map .link").count(), 8, "one line from each pod to the core");
  await folded.getByRole("button", { name: "Show the switches of pod3" }).focus();
  await folded.keyboard.press("Enter");
  await folded.waitForFunction(() => document.querySelectorAll("#map .group").length === 8 && document.querySelectorAll("#map circle").length === 8);
  await folded.getByRole("button", { name: "Fold groups" }).click();
  await folded.waitForFunction(() => document.querySelectorAll("#map .group").length === 9);
  await folded.close();
}
