// How many pictures a second a page draws.
import { large } from "./large.mjs";

/** Frames a second, and the longest one. Runs in the page. */
export const frames = (page, seconds) =>
  page.evaluate(
    (seconds) =>
      new Promise((done) => {
        const [begin, times] = [performance.now(), []];
        const tick = (now) => {
          times.push(now);
          if (now - begin < seconds * 1000) return requestAnimationFrame(tick);
          const gaps = times.slice(1).map((it, at) => it - times[at]).sort((a, b) => b - a);
          return done({ per_second: (1000 * (times.length - 1)) / (times.at(-1) - times[0]), longest_ms: gaps[0] });
        };
        requestAnimationFrame(tick);
      }),
    seconds,
  );

/** How long the page takes to answer the key that pauses it or lets it go on, in milliseconds, the shortest first; at other moments each time. */
export async function keys(page, times) {
  const took = [];
  for (let nth = 0; nth < times; nth += 1) {
    await page.waitForTimeout(nth * 97);
    const paused = nth % 2 === 0;
    took.push(await page.evaluate(
      (paused) =>
        new Promise((done) => {
          const began = performance.now();
          // A frame after the page has changed, it is seen.
          const look = () => (/paused/.test(document.querySelector(".state").textContent) === paused ? requestAnimationFrame(() => done(performance.now() - began)) : requestAnimationFrame(look));
          window.dispatchEvent(new KeyboardEvent("keydown", { key: "p" }));
          look();
        }),
      paused,
    ));
  }
  return took.sort((a, b) => a - b);
}

/** From the key that completes a filter to the frame that shows what fits, in milliseconds. */
export async function typed(page, text) {
  const took = await page.evaluate(
    (text) =>
      new Promise((done) => {
        const box = document.querySelector("#filter");
        box.value = text;
        const began = performance.now();
        box.dispatchEvent(new Event("input", { bubbles: true }));
        requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
      }),
    text,
  );
  // It stays for a while, as it is judged anew each second.
  await page.waitForTimeout(3_000);
  await page.locator("#filter").fill("");
  return took;
}

/** Waits until a large network is shown. */
export const drawn = (page) => page.waitForFunction(() => document.querySelectorAll("#map .link").length === 256 && document.querySelectorAll("#transfers tbody").length > 50);

/** A large network that changes each second beside an empty page in the same browser: a busy machine slows both. */
export async function compared(browser, seconds) {
  const server = await large();
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  try {
    await page.goto(`${server.address}empty`);
    const empty = await frames(page, seconds);
    await page.goto(server.address);
    await drawn(page);
    const full = await frames(page, seconds);
    return { empty: empty.per_second, full: full.per_second, ratio: full.per_second / empty.per_second, longest_ms: full.longest_ms };
  } finally {
    await page.close();
    server.close();
  }
}
