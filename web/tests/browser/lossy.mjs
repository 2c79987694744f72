// What a person sees of a link that loses frames, on a real lab: it is marked, told with evidence, left by its transfer, and
// used again. The lab and its controller are there; started by tests/page/lossy.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { launch } from "./launch.mjs";

const { BRAID: braid, BRAID_LAB: lab, BRAID_PAGE: address, BRAID_SCREENSHOTS: folder } = process.env;
const PATIENCE = 60_000;
/** A link is used again after 30 s without losses. */
const RECOVERY = 120_000;
const running = [];
const on = (host, ...command) => running.push(spawn(braid, ["lab", "exec", lab, host, "--", ...command], { stdio: ["ignore", "ignore", "inherit"] }));

async function main() {
  const browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  const until = async (what, timeout = PATIENCE) => {
    try {
      await page.waitForFunction(what, undefined, { timeout, polling: 100 });
    } catch (error) {
      throw new Error(`${what}: ${await page.locator("#overview").textContent()}`, { cause: error });
    }
  };
  const tab = (name) => page.getByRole("tab", { name }).click();
  const screenshot = async (name) => folder && page.screenshot({ path: join(folder, name), fullPage: true });

  on("right", "mptcpize", "run", "iperf3", "--server");
  await page.goto(address);
  await until(() => /3 switches, 6 links, 2 hosts/.test(document.querySelector("#summary")?.textContent ?? ""));
  on("left", "mptcpize", "run", "iperf3", "--client", "10.0.0.2", "--time", "300", "--bitrate", "40M");
  await until(() => /stream \d+: a > b/.test(document.querySelector("#map .stream title")?.textContent ?? ""));
  assert.equal(await page.locator("#map .lossy").count(), 0);
  console.log("ok: a transfer takes the direct link, which loses nothing");

  await tab(/^Testbed/);
  await page.locator('#testbed tr[data-link="a – b"]').getByRole("button", { name: "Change" }).click();
  const set = async (loss) => {
    await page.locator("#testbed form").getByLabel("Loss").fill(loss);
    await page.locator("#testbed form button").click();
    await until(() => !document.querySelector("#testbed form"));
  };
  const began = performance.now();
  await set("3");
  await page.locator("#map .lossy").first().waitFor({ timeout: PATIENCE });
  assert.equal(await page.locator("#map .failed").count(), 0, "it is up");
  // Both directions lose. The transfer leaves at the first that is found, so the other may never be.
  await until(() => /Link a – b loses frames \((a → b|b → a) [\d.]+ %/.test(document.querySelector("#overview").textContent));
  console.log(`ok: it is marked and told after ${((performance.now() - began) / 1000).toFixed(1)} s`);

  await page.locator("#map .lossy").first().click();
  const losses = page.getByRole("group", { name: "Losses" });
  await until(() => /Avoided: no transfer takes it/.test(document.querySelector("[aria-label=Losses]")?.textContent ?? ""));
  const evidence = (await losses.innerText()).replace(/\s+/g, " ");
  const [, share, lost, frames] = /(?:a → b|b → a) ([\d.]+) % (\d+) of (\d+) frames in/.exec(evidence) ?? [];
  assert.ok(Math.abs(Number(share) - (100 * Number(lost)) / Number(frames)) < 0.6 && Number(lost) > 5, evidence);
  await until(() => /stream \d+: a > c > b/.test(document.querySelector("#map .stream title")?.textContent ?? ""));
  assert.ok((await page.locator(".track .mark.lossy").count()) >= 1);
  assert.equal(await page.locator(".track .losses").count(), 1);
  await screenshot("page-lossy.png");
  console.log(`ok: its details have what was counted, and the transfer has left it (${share} %: ${lost} of ${frames})`);

  await page.locator('#testbed tr[data-link="a – b"]').getByRole("button", { name: "Change" }).click();
  await set("0");
  await page.locator("#map .lossy").first().waitFor({ state: "detached", timeout: RECOVERY });
  await until(() => /(a → b|b → a) lost frames\. It is used again for/.test(document.querySelector(".inspector").textContent));
  await until(() => /Link a – b lost frames and is used again/.test(document.querySelector("#overview").textContent));
  await tab(/^Events/);
  await until(() => /link recovered/.test(document.querySelector("#events").textContent));
  await screenshot("page-recovered.png");
  console.log("ok: it is used again, and its past stays told");
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
