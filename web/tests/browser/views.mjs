// Every view of the page, of networks that a controller only says that it has: what it shows, that it can be operated
// from the keyboard, that axe-core finds nothing, and that its layout is right on a phone, a desktop and a large screen, light
// and dark. Writes pictures of each view to the folder that is given.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { linksAdded, noLinkIsAdded } from "./added.mjs";
import { fake } from "./fake.mjs";
import { compared } from "./frames.mjs";
import { geometry, SCHEMES, WIDTHS } from "./geometry.mjs";
import { compressed } from "./large.mjs";
import { launch } from "./launch.mjs";
import { fatTree, lossy, nothing, office, reserved, ruled, spraying, standby } from "./networks.mjs";
import { pods } from "./pods.mjs";
import { readRules } from "./rules.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const DESKTOP = { width: 1280, height: 900 };
/** Only views with such names, while one is worked on. */
const ONLY = new RegExp(process.env.BRAID_VIEWS ?? "");
/** Bytes that a browser loads, compressed. */
const MAX_SIZE = 300_000;
const PHONE = { width: 390, height: 844 };

/** A network of which the stream has a part, and a controller that finds the last of its hosts. */
function large() {
  const network = pods(2_000);
  const snapshot = JSON.parse(network.snapshot(0));
  const answers = {
    "/api/v1/hosts": (asked) => ({ schema: "braid/v1", now: 0, next_cursor: null, hosts: network.every.filter((it) => asked.get("filter") === `mac=${it.mac}` || asked.get("filter") === it.addresses[0]) }),
    "/api/v1/transfers/history": { schema: "braid/v1", now: 0, id: 1, step_s: 1, times: [], streams: [] },
  };
  return { snapshot, answers };
}

/** What axe-core finds, one line each. */
async function violations(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.flatMap((it) => it.nodes.map((node) => `${it.id}: ${node.html.slice(0, 160)} (${node.failureSummary?.split("\n")[1]?.trim()})`));
}

export async function views(browser, folder) {
  let shown = 0;
  async function view(name, network, hash, look, { viewport = DESKTOP } = {}) {
    if (!ONLY.test(name)) return;
    const server = await fake(network);
    const page = await browser.newPage({ viewport, colorScheme: "light" });
    const problems = [];
    page.on("pageerror", (error) => problems.push(String(error)));
    try {
      await page.goto(server.address + hash);
      await page.waitForFunction((count) => document.querySelector("#summary")?.textContent.startsWith(`${count} switch`), network.snapshot.switches.length);
      await page.waitForTimeout(400);
      await look(page);
      problems.push(...(await everyway(page, name)));
      assert.deepEqual(problems, [], name);
      shown += 1;
    } finally {
      await page.close();
      server.close();
    }
  }

  /** What is wrong with a view in any width and colour scheme. */
  async function everyway(page, name) {
    const problems = [];
    for (const colorScheme of SCHEMES)
      for (const width of WIDTHS) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: DESKTOP.height });
        // Plots and labels follow.
        await page.waitForTimeout(300);
        if (folder) await page.screenshot({ path: join(folder, `view-${name}-${width}-${colorScheme}.png`), fullPage: true });
        // Contrast depends on the scheme, what there is to see on the width.
        const audited = width === DESKTOP.width || (width < DESKTOP.width && colorScheme === "light");
        const found = [...(await geometry(page)), ...(audited ? await violations(page) : [])];
        problems.push(...found.map((it) => `${width} px, ${colorScheme}: ${it}`));
      }
    return problems;
  }
  const text = (page, selector) => page.locator(selector).innerText();

  await view("overview", office(), "", async (page) => {
    assert.match(await text(page, "#overview"), /ams → gva/);
    // No column is cut off.
    const [table, box] = await page.locator("#transfers").evaluate((it) => [it.scrollWidth, it.parentElement.clientWidth]);
    assert.ok(table <= box, `${table} > ${box}`);
  });
  await view("outage", office(true), "#tab=events", async (page) => {
    assert.equal(await page.locator("#map .link").count(), 4);
    assert.equal(await page.locator("#map .link.failed").count(), 1, "a link that was cut before the page was opened");
    assert.match(await text(page, "#overview"), /Link ams1 – gva1 is down/);
    assert.match(await text(page, "#overview"), /Controller c does not answer/);
    assert.match(await text(page, "#overview"), /at ams2:1/);
    assert.ok(!/[0-9a-f]{16}/.test(await text(page, "#events")), "names stand where datapath ids were");
    assert.equal(await page.locator("#markers li").count(), 1, "ends of other streams are no marks");
  });
  await view("lossy", lossy(), "#tab=events", async (page) => {
    assert.equal(await page.locator("#map .lossy").count(), 1);
    assert.equal(await page.locator("#map .link.degraded .loses").count(), 2, "each direction that loses has gaps");
    assert.equal(await page.locator("#map .failed").count(), 0, "a link that loses frames is not cut");
    const overview = await text(page, "#overview");
    assert.match(overview, /1 warning\b[\s\S]*Link ams1 – gva1 loses frames \(ams1 → gva1 1\.10 %, gva1 → ams1 0\.95 %\): 1 transfer still on it/);
    assert.match(overview, /Link gva1 – gva2 lost frames and is used again/);
    assert.ok((await page.locator(".track .mark.lossy").count()) >= 1, "the time line has it");
    assert.equal(await page.locator(".track .losses").count(), 1, "for as long as it lasts");
    assert.match(await text(page, "#markers"), /loses frames: 34 of 3101 frames in 3\.1 s, 12 of them damaged/);
  });
  await view("lossy-link", lossy(), "#tab=links&link=0000000000000001%3A2+0000000000000003%3A2", async (page) => {
    const losses = await page.getByRole("group", { name: "Losses" }).innerText();
    assert.match(losses, /1 transfer still takes it; others are led around it/);
    assert.match(losses, /ams1 → gva1[\s\S]*1\.10 %[\s\S]*34 of 3101 frames in 3\.1 s[\s\S]*1 min 18 s[\s\S]*30\.0 s of 30\.0 s/);
    assert.match(losses, /gva1 → ams1[\s\S]*0\.95 %[\s\S]*1 min 0 s of 1 min 0 s/);
    assert.match(await page.locator("#links tbody tr").first().innerText(), /loses frames/, "first in the table");
  });
  await view("lossy-past", lossy(), "#tab=switches&link=0000000000000003%3A3+0000000000000004%3A3", async (page) => {
    assert.match(await text(page, ".inspector"), /gva2 → gva1 lost frames\. It is used again for 2 min 50 s, since it lost 1 of 30120 frames in 30\.0 s/);
    await page.getByRole("button", { name: "Switch ams1" }).click();
    assert.match(await text(page, ".inspector"), /gva1:ams1\s+loses frames/);
  });
  await view("transfer", office(true), "#transfer=1", async (page) => {
    assert.match(await text(page, ".inspector"), /Limited by|No link of its paths is full/);
    assert.ok(!/> 100 %/.test(await text(page, "#transfers")));
  });
  await view("switch", office(), "#tab=switches&switch=0000000000000001", async (page) => {
    assert.match(await text(page, ".inspector"), /Switch ams1[\s\S]*ams1-gva1[\s\S]*gva1:ams1/);
    // The map is one stop of the tabulator key; arrows go on from there.
    await page.locator("#map [tabindex='0']").focus();
    const before = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
    await page.keyboard.press("ArrowLeft");
    const after = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
    assert.notEqual(before, after);
    await page.keyboard.press("Enter");
    assert.match(page.url(), /#tab=switches&(switch|host)=/);
    await page.keyboard.press("Escape");
    assert.match(page.url(), /#tab=switches$/);
    await page.locator("#switches tbody tr").first().click();
  });
  await view("rules", ruled(), "#tab=switches&switch=0000000000000001", async (page) => {
    const tables = await readRules(page);
    assert.deepEqual(tables.map((it) => it.line), ["Table 0 (admit): 2 rules", "Table 1 (stream): 1 rule", "Table 2 (route): 1 rule", "Table 9: 1 rule"]);
    const [, [stream], [broadcast], [foreign]] = tables.map((it) => it.rules);
    assert.match(stream, /^stream 11 of transfer 1 \(forward\), path ams1 > gva1\n1200 packets, 1\.50 MB, for 1 min 30 s, priority 50\n.*group:131072\nGroup 131072: protected port: 2 \(gva1\), or its bypass$/);
    assert.match(broadcast, /Group 1: flood group/);
    assert.match(foreign, /^foreign\nnot counted/);
    assert.match(await text(page, "#rules"), /It has more rules than these 5\.$/);
  });
  await view("rules-silent", ruled(), "#tab=switches&switch=0000000000000002", async (page) => {
    await page.getByRole("button", { name: "Read its rules" }).click();
    assert.equal(await page.locator(".inspector [role=alert]").innerText(), "switch ams2 has not told its rules within 3 s");
    assert.equal(await page.locator("#rules").count(), 0);
  });
  await view("link", office(), "#tab=links&link=0000000000000001%3A2+0000000000000003%3A2", async (page) => {
    await page.locator(".inspector canvas").first().waitFor();
    assert.match(await text(page, ".inspector"), /Link ams1 – gva1[\s\S]*Used by[\s\S]*transfer 1/);
  });
  await view("host", office(), "#tab=hosts&host=52%3A54%3A00%3A00%3A01%3A01", async (page) => {
    assert.match(await text(page, ".inspector"), /Host ams[\s\S]*10\.0\.1\.1, fe80::1[\s\S]*10\.0\.2\.1/, "with all its interfaces");
    assert.equal(await page.getByRole("button", { name: "Host ams", exact: true }).count(), 1, "a host at two switches is one host");
  });
  await view("cut", office(), "#tab=testbed", async (page) => {
    await page.getByRole("button", { name: "Cut ams1 – gva1" }).click();
    assert.match(await text(page, "dialog"), /Cut link ams1 – gva1\?[\s\S]*2 transfers use it now/);
  });
  await view("filter", office(), "#tab=links", async (page) => {
    await page.keyboard.press("/");
    await page.keyboard.type("ams1 load");
    await page.getByRole("option", { name: "ams1 load_bps=" }).waitFor();
    await page.keyboard.press("ArrowDown");
    assert.ok((await page.locator("#filter").getAttribute("aria-activedescendant")) !== null);
  });
  await view("tiers", fatTree(4), "#tab=switches", async (page) => {
    const rows = await page.locator("#map circle.switch").evaluateAll((all) => new Set(all.map((it) => Math.round(it.getAttribute("cy")))).size);
    assert.equal(rows, 3, "each tier is a row");
    await noLinkIsAdded(page);
  });
  await view("tiers-large", fatTree(8), "", async (page) => {
    const rows = await page.locator("#map circle.switch").evaluateAll((all) => new Set(all.map((it) => Math.round(it.getAttribute("cy")))).size);
    assert.equal(rows, 3);
  });
  await view("pods", large(), "", async (page) => {
    assert.match(await text(page, "#summary"), /2016 switches, 16000 links, 20160 hosts/);
    assert.match(await text(page, ".map"), /the first 8192 of 16000 links/);
    assert.equal(await page.locator("#map .group").count(), 51);
    const rows = await page.locator("#map .group rect").evaluateAll((all) => new Set(all.map((it) => Math.round(it.getAttribute("y")))).size);
    assert.ok(rows > 3 && rows < 9, `${rows} rows`);
    // The filter finds a host that the page is not told of, and its details are there.
    await page.getByRole("tab", { name: /^Hosts/ }).click();
    assert.match(await text(page, "#panel"), /told of 8192 of 20160 hosts/);
    await page.locator("#filter").fill("10.0.78.191");
    await page.locator("#hosts tbody tr", { hasText: "10.0.78.191" }).click();
    assert.match(await text(page, ".inspector"), /Host 10\.0\.78\.191[\s\S]*pod50s36:/);
    await page.locator("#filter").fill("");
  });
  await view("cluster", office(true), "#tab=cluster", async (page) => {
    assert.match(await text(page, "#members"), /a serves this page\s+★ leads[\s\S]*b\s+○ stands by\s+0\.0 s ago\s+20\s+1\s+12\.00 ms[\s\S]*c\s+✕ does not answer\s+40\.0 s ago/);
    assert.match(await text(page, "#panel"), /Leader\s+a\s+Term\s+3[\s\S]*current/);
    await page.getByRole("button", { name: "Controller c does not answer" }).click();
    await page.waitForFunction(() => document.querySelector("#members").getBoundingClientRect().top < innerHeight);
  });
  await view("standby", standby(), "#tab=cluster", async (page) => {
    assert.equal(await page.getByRole("status").first().innerText(), "ams-a stands by: gva-a leads. What it shows is 12 min 32 s old.");
    assert.match(await text(page, "#panel"), /Term\s+17, 18 was seen[\s\S]*12 min 32 s old/);
    assert.match(await text(page, ".map"), /This controller stands by/);
    assert.match(await text(page, "#overview"), /1 problem[\s\S]*Controller gva-b does not answer/);
  });
  await view("assignment", reserved(), "#tab=assignments", async (page) => {
    await page.locator("#assignments tbody tr").first().click();
    assert.match(await text(page, "#assignments"), /gridftp\s+ams → gva\s+2 of 2\s+106 Mbit\/s\s+6\s+weight/);
    assert.match(await text(page, ".inspector"), /Assignment of gridftp[\s\S]*ams1 > ams2 > gva2 > gva1[\s\S]*2 of 3 useful streams[\s\S]*ams1 > gva1/);
    assert.equal(await page.locator("#map .stream").count(), 2, "its paths are drawn");
    assert.equal(await page.locator("#map .flow").count(), 0, "what carries nothing yet does not move");
    assert.match(page.url(), /#tab=assignments&assignment=6b1f0c2a9d4e7731$/);
    await page.locator("#assignments tbody tr").nth(1).click();
    assert.match(await text(page, ".inspector"), /Assignment of dtn@ams[\s\S]*1 of 2[\s\S]*More paths would add nothing/);
  });
  await view("paths", reserved(), "", async (page) => {
    await page.getByRole("button", { name: "Find paths" }).click();
    await page.getByLabel("From", { exact: true }).fill("ams");
    await page.getByLabel("To", { exact: true }).fill("gva");
    await page.getByLabel("At most").fill("3");
    await page.keyboard.press("Enter");
    await page.locator("#paths li").first().waitFor();
    assert.match(await text(page, "#paths"), /2 paths from ams1 to gva1[\s\S]*2 of 3: there are no more of this kind[\s\S]*attached to ams2[\s\S]*3 links, 8\.70 Mbit\/s free, 630 µs[\s\S]*ams1 > gva1[\s\S]*loses frames: ams1 → gva1 1\.10 %/);
    assert.deepEqual(await page.locator("#map .stream title").allTextContents(), ["path 1: ams1 > ams2 > gva2 > gva1", "path 2: ams1 > gva1"]);
    assert.match(page.url(), /#paths=src%3Dams%26dst%3Dgva%26mode%3Ddisjoint%26k%3D3/);
  });
  await view("paths-none", { ...office(), answers: { ...office().answers, "/api/v1/paths": { status: 404, title: "not found", detail: "src: there is no switch or host \"mars\"" } } }, "#paths=src%3Dmars%26dst%3Dgva", async (page) => {
    assert.match(await page.locator(".inspector [role=alert]").innerText(), /no switch or host "mars"/);
    await page.getByRole("button", { name: "Close Paths" }).click();
    await page.getByRole("button", { name: "Switch ams1" }).click();
    await page.getByRole("button", { name: "Paths from here" }).click();
    assert.equal(await page.getByLabel("From", { exact: true }).inputValue(), "ams1");
  });
  await view("edges", spraying(), "#tab=edges", async (page) => {
    await page.locator("#edges canvas").first().waitFor();
    assert.match(await text(page, "#edges"), /west > east[\s\S]*67 %[\s\S]*suspended/);
  });
  await view("edges-order", spraying(), "#tab=edges", async (page) => {
    await page.getByLabel("Edge", { exact: true }).selectOption("0000000000000002");
    await page.locator("#edges canvas").nth(1).waitFor();
    assert.match(await text(page, "#edges"), /Resequences traffic from west for right[\s\S]*181220 filled, 19 given up/);
  });
  await view("testbed", office(true), "#tab=testbed", async (page) => {
    await page.getByRole("button", { name: "Change ams2 – gva2" }).click();
    assert.equal(await page.getByLabel("Rate").inputValue(), "100");
  });
  await linksAdded(view);
  const past = office(true);
  const run = { schema: "braid/v1", started_at_ms: 1.7e12, run: [{ event: "snapshot", data: past.snapshot }, ...past.deltas.map((data) => ({ event: "delta", data }))] };
  await view("run", { ...past, answers: { ...past.answers, "/run.json": run } }, "?run=/run.json", async (page) => {
    await page.getByRole("group", { name: "Recorded run" }).waitFor();
    await page.getByLabel("Time").focus();
    await page.keyboard.press("End");
    assert.match(await text(page, ".state"), /recorded at 7 min 10 s/);
    assert.equal(await page.getByRole("button", { name: "Find paths" }).count(), 0, "nobody is there to be asked");
    await noLinkIsAdded(page);
    assert.equal(await page.locator("#tab-cluster").count(), 0);
  });
  await view("empty", nothing, "", async (page) => assert.match(await text(page, ".empty"), /set-controller BRIDGE tcp:127\.0\.0\.1:6653/));
  await view("phone", office(true), "", async () => undefined, { viewport: PHONE });
  for (const tab of ["transfers", "links", "switches", "hosts"])
    await view(`phone-${tab}`, office(true), `#tab=${tab}`, async (page) => {
      await page.locator("#panel").scrollIntoViewIfNeeded();
      const [table, box] = await page.locator(`#${tab}`).evaluate((it) => [it.scrollWidth, it.parentElement.clientWidth]);
      assert.ok(table <= box, `${tab}: ${table} > ${box}`);
    }, { viewport: PHONE });
  await view("phone-link", office(), "#link=0000000000000001%3A2+0000000000000003%3A2", async () => undefined, { viewport: PHONE });
  if (ONLY.test("planted")) await planted(browser);
  const size = compressed();
  assert.ok(size <= MAX_SIZE, `the page has ${size} bytes, compressed`);
  const { empty, full, ratio } = await compared(browser, 5);
  // Printed, not judged: the machine may be busy.
  const speed = `80 switches: ${full.toFixed(1)} frames a second, ${ratio.toFixed(2)} of the ${empty.toFixed(1)} of an empty page; target: 50`;
  return `${shown} views, ${Math.round(size / 1000)} kB; ${speed}`;
}

/** What is wrong on purpose is found: else nothing would be found in any view. */
async function planted(browser) {
  const page = await browser.newPage({ viewport: DESKTOP });
  const finds = async (html, what) => {
    await page.setContent(`<body style="margin:0">${html}</body>`);
    const found = await geometry(page);
    assert.ok(what ? found.length > 0 && found.every((it) => what.test(it)) : found.length === 0, `${html}: ${found}`);
  };
  const clip = "overflow:hidden;width:50px;white-space:nowrap";
  await finds(`<p style="${clip}">Geneva and Amsterdam</p>`, /is cut off in p/);
  await finds(`<p style="${clip};text-overflow:ellipsis">Geneva and Amsterdam</p>`, /no title has the rest/);
  await finds(`<p style="${clip};text-overflow:ellipsis" title="Geneva and Amsterdam">Geneva and Amsterdam</p>`, null);
  await finds(`<div style="overflow:auto;width:50px" aria-label="Box"><table><td style="white-space:nowrap">Geneva and Amsterdam</table></div>`, /takes scrolling sideways in Box/);
  await finds(`<section style="width:50px;white-space:nowrap">Geneva and Amsterdam</section>`, /leaves its section/);
  await finds(`<main><div style="width:1400px">Geneva</div></main>`, /120 px wider than the window: div/);
  await finds(`<p>Geneva</p><p style="margin-top:-26px">Amsterdam</p>`, /"Geneva" and "Amsterdam" cover each other/);
  await finds(`<svg width="100" height="40"><text x="90" y="20">Geneva</text></svg>`, /cut off at the edge of its picture/);
  await finds(`<svg width="200" height="40"><text x="9" y="20">Geneva</text><text x="20" y="22">Bern</text></svg>`, /"Geneva" and "Bern" cover each other/);
  await page.close();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const browser = await launch();
  try {
    console.log(`ok: ${await views(browser, process.argv[2])}, no violation`);
  } finally {
    await browser.close();
  }
}
