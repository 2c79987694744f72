// Chromium, as all tests of the page start it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

const FILES = { "/": ["index.html", "text/html"], "/app.js": ["app.js", "text/javascript"], "/app.css": ["app.css", "text/css"] };

/** With BRAID_DIST, the page is that of a folder, with the headers of the controller: one that is not built into the binary yet. */
export async function launch() {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const folder = process.env.BRAID_DIST;
  if (!folder) return browser;
  const newPage = browser.newPage.bind(browser);
  browser.newPage = async (options) => {
    const page = await newPage(options);
    await page.route((url) => url.pathname in FILES, (route) => instead(route, folder));
    return page;
  };
  return browser;
}

async function instead(route, folder) {
  const [name, kind] = FILES[new URL(route.request().url()).pathname];
  const response = await route.fetch();
  const { "content-encoding": _, "content-length": __, ...headers } = response.headers();
  await route.fulfill({ status: 200, headers: { ...headers, "content-type": kind }, body: readFileSync(join(folder, name)) });
}
