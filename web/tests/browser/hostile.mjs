// A controller that was told markup wherever a network can say something: in names, addresses and reasons.
import assert from "node:assert/strict";
import { PAGE } from "./lab.mjs";

const MARKUP = `<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>`;

const snapshot = () => {
  const at = { dpid: MARKUP, port: 1 };
  const ends = { src: MARKUP, dst: MARKUP, src_port: 1, dst_port: 2, path: [MARKUP] };
  const stream = { id: 1, ...ends, bytes_sent: 1, bytes_received: 1, sent_bps: 1, received_bps: 1 };
  const path = { path: [MARKUP, "2"], ports: [at], read_at: 1e9, state: "active", share: 1, carried_bps: 1, estimated_capacity_bps: null, round_trip_us: 1, queue_us: 1, loss: 0, packets: 1, bytes: 1 };
  const link = { src: at, dst: { dpid: "2", port: 1 }, capacity_bps: 1, delay_us: null, load_bps: null, loss: null };
  return {
    now: 1e9,
    switches: [{ dpid: MARKUP, address: MARKUP, name: MARKUP, group: MARKUP, ports: [{ port: 1, name: MARKUP, up: true, role: null }] }, { dpid: "2", address: null, ports: [] }],
    links: [{ ...link, delay_at: null, load_at: null, loss_at: null }],
    hosts: [{ mac: MARKUP, at, addresses: [MARKUP], last_seen: 0 }],
    edges: [{ dpid: MARKUP, answered_at: null, spray_groups: [{ group: 1, to: MARKUP, paths: [path] }], resequencers: [] }],
    transfers: [{ id: 1, kind: MARKUP, opened_at: 0, streams: [stream] }],
    events: [{ number: 1, time: 0, level: "warning", text: MARKUP, notice: MARKUP }],
  };
};

export async function hostile(browser) {
  const page = await browser.newPage();
  await page.route("**/api/v1/stream", (route) =>
    route.fulfill({
      headers: { "content-type": "text/event-stream" },
      body: `event: snapshot\ndata: ${JSON.stringify(snapshot())}\n\n`,
    }),
  );
  await page.route("**/api/v1/transfers/history*", (route) => {
    const stream = { ...snapshot().transfers[0].streams[0], sent_bps: [1, 2], received_bps: [0, 0] };
    return route.fulfill({ json: { now: 1e9, id: 1, step_s: 1, times: [1, 1e9], streams: [stream] } });
  });
  await page.route("**/api/v1/testbed/links", (route) => {
    const end = { name: MARKUP, at: null, rate_bps: null, delay_us: 0, loss: 0 };
    return route.fulfill({ json: { links: [{ up: true, ends: [end, end] }] } });
  });
  const alarm = { kind: MARKUP, text: MARKUP, at: { dpid: MARKUP, port: 1 }, first_at: 0, last_at: 1e9, count: 1 };
  await page.route("**/api/v1/alarms", (route) => route.fulfill({ json: { now: 1e9, alarms: [alarm] } }));
  const members = [MARKUP, "b"].map((name) => ({ name, address: MARKUP, last_heard: null }));
  const cluster = { now: 1e9, name: MARKUP, member: "b", leader: MARKUP, store_answers: true, newest_term: 1, members };
  await page.route("**/api/v1/cluster", (route) => route.fulfill({ json: cluster }));
  const aside = { id: MARKUP, owner: MARKUP, src: MARKUP, dst: MARKUP, distribution: MARKUP, requested_paths: 1, placed_streams: 0, opened_at: 0, expires_at: 2e9, paths: [{ switches: [MARKUP, "2"], available_bps: 1, round_trip_us: 1, streams: 0, best_streams: 1 }] };
  await page.route("**/api/v1/assignments", (route) => route.fulfill({ json: { now: 1e9, assignments: [aside] } }));
  await page.goto(PAGE);
  await page.locator("#overview .bad").first().waitFor();
  await page.locator("#throughput canvas").waitFor();
  for (const name of ["Links", "Switches", "Hosts", "Edges", "Cluster", "Assignments"]) {
    await page.getByRole("tab", { name: new RegExp(`^${name}`) }).click();
    await page.locator("#panel td").first().waitFor();
  }
  await page.locator("#assignments tbody tr").click();
  await page.getByRole("button", { name: /^Close/ }).click();
  for (const part of ["switch", "host", "link"]) {
    await page.locator(`#map [data-kind=${part}]`).first().dispatchEvent("click");
    await page.getByRole("button", { name: /^Close/ }).click();
  }
  await page.getByRole("tab", { name: /^Testbed/ }).click();
  await page.locator("#testbed td").first().waitFor();
  await page.getByRole("tab", { name: /^Events/ }).click();
  await page.locator("#events td.text").waitFor();
  assert.equal(await page.locator("#events td.text").textContent(), MARKUP);
  assert.equal(await page.locator("img, #app script").count(), 0);
  // The picture that is made of the map is drawn from the same text.
  const [file] = await Promise.all([page.waitForEvent("download"), page.locator("#save").selectOption("map.png")]);
  assert.equal(file.suggestedFilename(), "map.png");
  assert.equal(await page.title(), "Braid");
  await page.close();
}
