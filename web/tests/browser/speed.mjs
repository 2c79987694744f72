// How fast the page is with a large network. Prints one line of JSON.
import { compared, drawn } from "./frames.mjs";
import { compressed, large } from "./large.mjs";
import { launch } from "./launch.mjs";

const SECONDS = Number(process.argv[2] ?? 10);
const server = await large();
const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const began = performance.now();
await page.goto(server.address);
await drawn(page);
// Interactive: a key is answered.
await page.keyboard.press("p");
await page.waitForFunction(() => /paused/.test(document.querySelector(".state").textContent));
const interactive = performance.now() - began;
await page.close();
const { empty, full, ratio, longest_ms } = await compared(browser, SECONDS);
const rounded = (value) => Number(value.toFixed(1));
console.log(JSON.stringify({
  interactive_ms: Math.round(interactive), frames_per_second: rounded(full), longest_frame_ms: Math.round(longest_ms),
  empty_page_frames_per_second: rounded(empty), ratio: Number(ratio.toFixed(2)), compressed_bytes: compressed(),
}));
await browser.close();
server.close();
