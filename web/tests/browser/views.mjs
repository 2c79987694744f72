// Every view of the page, of networks that a controller only says that it has: what it shows, that it can be operated
// from the keyboard, and that axe-core finds nothing. Writes a picture of each view to the folder that is given.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fake } from "./fake.mjs";
import { launch } from "./launch.mjs";
import { fatTree, lossy, nothing, office, reserved, standby } from "./networks.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const DESKTOP = { width: 1280, height: 900 };
/** Only views with such names, while one is worked on. */
const ONLY = new RegExp(process.env.BRAID_VIEWS ?? "");
const PHONE = { width: 390, height: 844 };

/** What axe-core finds, one line each. */
async function violations(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.flatMap((it) => it.nodes.map((node) => `${it.id}: ${node.html.slice(0, 160)} (${node.failureSummary?.split("\n")[1]?.trim()})`));
}

export async function views(browser, folder) {
  let shown = 0;
  async function view(name, network, hash, look, { viewport = DESKTOP, colorScheme = "light" } = {}) {
    if (!ONLY.test(name)) return;
    const server = await fake(network);
    const page = await browser.newPage({ viewport, colorScheme });
    const problems = [];
    page.on("pageerror", (error) => problems.push(String(error)));
    try {
      await page.goto(server.address + hash);
      await page.waitForFunction((count) => document.querySelector("#summary")?.textContent.startsWith(`${count} switch`), network.snapshot.switches.length);
      await page.waitForTimeout(400);
      await look(page);
      await page.waitForTimeout(200);
      if (folder) await page.screenshot({ path: join(folder, `view-${name}.png`), fullPage: process.env.BRAID_VIEWS !== undefined });
      assert.deepEqual(await violations(page), [], name);
      assert.deepEqual(problems, [], name);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than the window`);
      shown += 1;
    } finally {
      await page.close();
      server.close();
    }
  }
  const text = (page, selector) => page.locator(selector).innerText();

  for (const colorScheme of ["light", "dark"]) {
    await view(`overview-${colorScheme}`, office(), "", async (page) => {
      assert.match(await text(page, "#overview"), /ams → gva/);
      // No column is cut off.
      const [table, box] = await page.locator("#transfers").evaluate((it) => [it.scrollWidth, it.parentElement.clientWidth]);
      assert.ok(table <= box, `${table} > ${box}`);
      await apart(page);
    }, { colorScheme });
    await view(`outage-${colorScheme}`, office(true), "#tab=events", async (page) => {
      assert.equal(await page.locator("#map .link").count(), 4);
      assert.equal(await page.locator("#map .link.failed").count(), 1, "a link that was cut before the page was opened");
      assert.match(await text(page, "#overview"), /Link ams1 – gva1 is down/);
      assert.match(await text(page, "#overview"), /Controller c does not answer/);
      assert.match(await text(page, "#overview"), /at ams2:1/);
      assert.ok(!/[0-9a-f]{16}/.test(await text(page, "#events")), "names stand where datapath ids were");
      assert.equal(await page.locator("#markers li").count(), 1, "ends of other streams are no marks");
    }, { colorScheme });
  }
  for (const colorScheme of ["light", "dark"]) {
    await view(`lossy-${colorScheme}`, lossy(), "#tab=events", async (page) => {
      assert.equal(await page.locator("#map .lossy").count(), 1);
      assert.equal(await page.locator("#map .link.degraded .loses").count(), 2, "each direction that loses has gaps");
      assert.equal(await page.locator("#map .failed").count(), 0, "a link that loses frames is not cut");
      const overview = await text(page, "#overview");
      assert.match(overview, /1 warning\b[\s\S]*Link ams1 – gva1 loses frames \(ams1 → gva1 1\.10 %, gva1 → ams1 0\.95 %\): 1 transfer still on it/);
      assert.match(overview, /Link gva2 – gva1 lost frames and is used again/);
      assert.ok((await page.locator(".track .mark.lossy").count()) >= 1, "the time line has it");
      assert.equal(await page.locator(".track .losses").count(), 1, "for as long as it lasts");
      assert.match(await text(page, "#markers"), /loses frames: 34 of 3101 frames in 3\.1 s, 12 of them damaged/);
      await apart(page);
    }, { colorScheme });
    await view(`lossy-link-${colorScheme}`, lossy(), "#tab=links&link=0000000000000001%3A2+0000000000000003%3A2", async (page) => {
      const losses = await page.getByRole("group", { name: "Losses" }).innerText();
      assert.match(losses, /1 transfer still takes it; others are led around it/);
      assert.match(losses, /ams1 → gva1[\s\S]*1\.10 %[\s\S]*34 of 3101 frames in 3\.1 s[\s\S]*1 min 18 s[\s\S]*30\.0 s of 30\.0 s/);
      assert.match(losses, /gva1 → ams1[\s\S]*0\.95 %[\s\S]*1 min 0 s of 1 min 0 s/);
      assert.match(await page.locator("#links tbody tr").first().innerText(), /loses frames/, "first in the table");
    }, { colorScheme });
  }
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
    await apart(page);
  });
  await view("tiers-large", fatTree(8), "", async (page) => {
    const rows = await page.locator("#map circle.switch").evaluateAll((all) => new Set(all.map((it) => Math.round(it.getAttribute("cy")))).size);
    assert.equal(rows, 3);
    await apart(page);
  }, { colorScheme: "dark" });
  for (const colorScheme of ["light", "dark"])
    await view(`cluster-${colorScheme}`, office(true), "#tab=cluster", async (page) => {
      assert.match(await text(page, "#members"), /a serves this page\s+★ leads[\s\S]*b\s+○ stands by[\s\S]*c\s+✕ does not answer\s+40\.0 s ago/);
      assert.match(await text(page, "#panel"), /Leader\s+a\s+Term\s+3[\s\S]*current/);
      await page.getByRole("button", { name: "Controller c does not answer" }).click();
      await page.waitForFunction(() => document.querySelector("#members").getBoundingClientRect().top < innerHeight);
    }, { colorScheme });
  await view("standby", standby(), "#tab=cluster", async (page) => {
    assert.equal(await page.getByRole("status").first().innerText(), "ams-a stands by: gva-a leads. What it shows is 12 min 32 s old.");
    assert.match(await text(page, "#panel"), /Term\s+17, 18 was seen[\s\S]*12 min 32 s old/);
    assert.match(await text(page, ".map"), /This controller stands by/);
    assert.match(await text(page, "#overview"), /1 problem[\s\S]*Controller gva-b does not answer/);
  });
  for (const colorScheme of ["light", "dark"])
    await view(`assignment-${colorScheme}`, reserved(), "#tab=assignments", async (page) => {
      await page.locator("#assignments tbody tr").first().click();
      assert.match(await text(page, "#assignments"), /gridftp\s+ams → gva\s+2 of 2\s+106 Mbit\/s\s+6\s+weight/);
      assert.match(await text(page, ".inspector"), /Assignment of gridftp[\s\S]*ams1 > ams2 > gva2 > gva1[\s\S]*2 of 3 useful streams[\s\S]*ams1 > gva1/);
      assert.equal(await page.locator("#map .stream").count(), 2, "its paths are drawn");
      assert.equal(await page.locator("#map .flow").count(), 0, "what carries nothing yet does not move");
      assert.match(page.url(), /#tab=assignments&assignment=6b1f0c2a9d4e7731$/);
      await page.locator("#assignments tbody tr").nth(1).click();
      assert.match(await text(page, ".inspector"), /Assignment of dtn@ams[\s\S]*1 of 2[\s\S]*More paths would add nothing/);
    }, { colorScheme });
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
  await view("empty", nothing, "", async (page) => assert.match(await text(page, ".empty"), /set-controller BRIDGE tcp:127\.0\.0\.1:6653/));
  await view("phone", office(true), "", async () => undefined, { viewport: PHONE });
  for (const tab of ["transfers", "links", "switches", "hosts"])
    await view(`phone-${tab}`, office(true), `#tab=${tab}`, async (page) => {
      await page.locator("#panel").scrollIntoViewIfNeeded();
      const [table, box] = await page.locator(`#${tab}`).evaluate((it) => [it.scrollWidth, it.parentElement.clientWidth]);
      assert.ok(table <= box, `${tab}: ${table} > ${box}`);
    }, { viewport: PHONE });
  await view("phone-link", office(), "#link=0000000000000001%3A2+0000000000000003%3A2", async () => undefined, { viewport: PHONE, colorScheme: "dark" });
  return `${shown} views`;
}

/** No label that is shown covers another. */
async function apart(page) {
  const covered = await page.locator("#map text").evaluateAll((all) => {
    const boxes = all.filter((it) => getComputedStyle(it).opacity === "1" && it.textContent).map((it) => [it.textContent, it.getBoundingClientRect()]);
    return boxes.flatMap(([a, p], at) => boxes.slice(at + 1).filter(([, q]) => p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 3 && q.top < p.bottom - 3).map(([b]) => `${a} and ${b}`));
  });
  assert.deepEqual(covered, []);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const browser = await launch();
  try {
    console.log(`ok: ${await views(browser, process.argv[2])}, no violation`);
  } finally {
    await browser.close();
  }
}
