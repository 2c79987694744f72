// Bundles the unit tests, so that any Node from 18 on runs them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const folder = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
const out = mkdtempSync(join(tmpdir(), "braid-web-"));
const entryPoints = readdirSync(folder).filter((it) => it.endsWith(".test.ts")).map((it) => join(folder, it));
await build({ entryPoints, bundle: true, platform: "node", format: "esm", outdir: out, outExtension: { ".js": ".mjs" } });
const files = readdirSync(out).map((it) => join(out, it));
const { status } = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
rmSync(out, { recursive: true });
process.exit(status ?? 1);
