// Links that are added to a testbed and removed: by the form in a switch's details, and drawn on the map.
import assert from "node:assert/strict";
import { office } from "./networks.mjs";

const PATIENCE = 40_000;
const WHERE = "**/api/v1/testbed/links?*";
const REFUSAL = "a link that is added is made by the kernel, which here can give it a rate and a queue only";

const on = (page, name) => page.getByRole("button", { name: `Switch ${name}`, exact: true });
const form = (page, from) => page.getByRole("form", { name: `Add a link from ${from}` });
const chosen = (page, from) => form(page, from).getByLabel("To").evaluate((it) => it.selectedOptions[0].textContent);

/** Where a network is no testbed, nothing offers to add a link. */
export async function noLinkIsAdded(page) {
  await page.locator("#map circle.switch").first().click({ modifiers: ["Shift"] });
  await page.getByRole("region", { name: "Ports" }).waitFor();
  assert.equal(await page.getByRole("button", { name: /^Add (a )?link/ }).count(), 0);
  await page.keyboard.press("Escape");
}

/** A drag from one switch to another; `look` is called before its end. */
async function drag(page, [from, to], look = async () => undefined) {
  const middle = async (name) => {
    const { x, y, width, height } = await on(page, name).locator("circle").boundingBox();
    return [x + width / 2, y + height / 2];
  };
  const [[x, y], end] = [await middle(from), await middle(to)];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move((x + end[0]) / 2 + 9, (y + end[1]) / 2);
  await page.mouse.move(end[0] + 4, end[1] - 3);
  await look();
  await page.mouse.up();
}

const shifted = async (page, act) => {
  await page.keyboard.down("Shift");
  await act();
  await page.keyboard.up("Shift");
};

/** Answers requests that change the testbed, and says what was asked for. */
async function answer(page, reply) {
  const asked = [];
  await page.route(WHERE, (route) => {
    const request = route.request();
    const ends = new URL(request.url()).searchParams;
    asked.push([request.method(), ends.get("from"), ends.get("to"), request.postDataJSON()]);
    return route.fulfill(reply());
  });
  return asked;
}

/** What the views of a testbed offer, of a controller that only says that it has one. */
export async function linksAdded(view) {
  await view("add-link", office(), "", async (page) => {
    const asked = await answer(page, () => ({ status: 409, json: { detail: REFUSAL } }));
    const lines = page.locator("#map .rubber line");
    await shifted(page, () => drag(page, ["ams1", "gva2"], async () => assert.equal(await lines.count(), 1)));
    assert.equal(await lines.count(), 1, "it stays while the form is open");
    assert.equal(await chosen(page, "ams1"), "gva2");
    assert.equal(await page.evaluate(() => document.activeElement.type), "number", "the other switch is known, and the rate has the focus");
    await form(page, "ams1").getByLabel("Delay").fill("5");
    await page.keyboard.press("Enter");
    await form(page, "ams1").getByRole("alert").waitFor();
    assert.equal(await form(page, "ams1").getByRole("alert").innerText(), REFUSAL);
    assert.deepEqual(asked, [["POST", "ams1", "gva2", { rate_bps: 1e8, delay_us: 5000, loss: null }]]);
  });
  await view("add-link-mode", office(), "", async (page) => {
    const mode = page.getByRole("button", { name: "Add link" });
    await mode.focus();
    await page.keyboard.press("Enter");
    await on(page, "ams1").focus();
    await page.keyboard.press("Enter");
    await on(page, "gva1").focus();
    await page.keyboard.press("Enter");
    assert.equal(await chosen(page, "ams1"), "gva1");
    await page.keyboard.press("Escape");
    assert.equal(await form(page, "ams1").count(), 0);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Add a link…");
    // The pointer does it, too: by two clicks, or a drag; what ends nowhere is no link.
    await mode.click();
    await on(page, "gva1").locator("circle").click();
    await on(page, "ams2").locator("circle").click();
    assert.equal(await chosen(page, "gva1"), "ams2");
    await mode.click();
    await drag(page, ["gva2", "ams1"]);
    assert.equal(await chosen(page, "gva2"), "ams1");
    await mode.click();
    await page.keyboard.press("Escape");
    assert.equal(await mode.getAttribute("aria-pressed"), "false");
    await page.keyboard.press("Escape");
    await shifted(page, () => drag(page, ["ams1", "ams1"]));
    assert.equal(await page.getByRole("form").count(), 0);
    await mode.click();
    await on(page, "ams1").locator("circle").click();
    assert.match(await page.locator(".map [role=status]").innerText(), /^From ams1: /);
  });
  await view("remove-link", office(), "#link=0000000000000001%3A2+0000000000000003%3A2", async (page) => {
    const asked = await answer(page, () => ({ json: {} }));
    const remove = async () => {
      await page.locator(".inspector").getByRole("button", { name: "Remove ams1 – gva1" }).click();
      assert.match(await page.locator("dialog").innerText(), /Remove link ams1 – gva1\?[\s\S]*2 transfers use it now/);
    };
    await remove();
    await page.getByRole("button", { name: "Cancel" }).click();
    assert.deepEqual(asked, [], "nothing is removed before it is confirmed");
    await remove();
    await page.getByRole("dialog").getByRole("button", { name: "Remove ams1 – gva1" }).click();
    await page.getByRole("status").filter({ hasText: "was removed" }).waitFor({ state: "attached" });
    assert.deepEqual(asked, [["DELETE", "ams1:2", "gva1:2", null]]);
    assert.ok(!/#.*link=/.test(page.url()), "its details are closed");
  });
}

/** A link of the lab is added by the form, discovered and drawn, and removed again. */
export async function addedAndRemoved(page) {
  const links = (count) => page.waitForFunction((it) => document.querySelectorAll("#map .link").length === it, count, { timeout: PATIENCE });
  await on(page, "ams1").click();
  await page.getByRole("button", { name: "Add a link…" }).click();
  const fields = form(page, "ams1");
  assert.equal(await fields.getByLabel("Rate").inputValue(), "100", "as fast as the others");
  await fields.getByLabel("To").selectOption("gva2");
  await fields.getByLabel("Rate").fill("50");
  await page.keyboard.press("Enter");
  await page.getByText("Link ams1 – gva2 was added.").first().waitFor({ timeout: PATIENCE });
  const began = performance.now();
  await links(5);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  await page.getByRole("tab", { name: /^Testbed/ }).click();
  assert.match(await page.locator('#testbed tr[data-link="ams1 – gva2"]').innerText(), /50\.0 Mbit/);
  await page.getByRole("region", { name: "Ports" }).getByRole("button", { name: /^gva2:/ }).click();
  await page.locator(".inspector").getByRole("button", { name: "Remove ams1 – gva2" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove ams1 – gva2" }).click();
  await links(4);
  await page.waitForFunction(() => !document.querySelector("#map .link.failed"), undefined, { timeout: PATIENCE });
  assert.equal(await page.locator('#testbed tr[data-link="ams1 – gva2"]').count(), 0);
  return `discovered after ${seconds} s`;
}
