// Two links of a testbed that join the same two switches: each is shown, and changed, by its ports.
import assert from "node:assert/strict";
import { PAGE } from "./lab.mjs";

const end = (name, port) => ({ name, at: { dpid: name, port }, rate_bps: 1e6, delay_us: 0, loss: 0 });
const LINKS = [1, 2].map((port) => ({ up: true, ends: [end("s", port), end("t", port)] }));

export async function parallel(browser) {
  const page = await browser.newPage();
  const asked = [];
  await page.route("**/api/v1/testbed/links*", (route) => {
    const request = route.request();
    if (request.method() === "PUT") asked.push([new URL(request.url()).searchParams, request.postDataJSON()]);
    return route.fulfill({ json: { schema: "braid/v1", links: LINKS, link: LINKS[1] } });
  });
  await page.goto(PAGE);
  await page.getByRole("tab", { name: /^Testbed/ }).click();
  await page.locator('#testbed tr[data-link="s:2 – t:2"]').getByRole("button", { name: "Cut s:2 – t:2" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cut s:2 – t:2" }).click();
  while (asked.length === 0) await page.waitForTimeout(50);
  const [[ends, change]] = asked;
  assert.deepEqual([ends.get("from"), ends.get("to"), change], ["s:2", "t:2", { up: false }]);
  await page.close();
}
