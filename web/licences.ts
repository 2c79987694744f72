// The licences of the libraries that are built into the page, as a file beside it.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plugin } from "vite";

const TEXT = /^(licen[cs]e|copying|notice)/i;

/** Writes `licences.txt`: each library with code in the page, its version, its licence, and the text of that. */
export function licences(): Plugin {
  return {
    name: "licences",
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((it) => (it.type === "chunk" ? it.moduleIds : []));
      const folders = new Set(modules.map(folderOf).filter((it) => it !== null));
      const source = [...folders].sort().map(describe).join("\n");
      this.emitFile({ type: "asset", fileName: "licences.txt", source });
    },
  };
}

/** The nearest folder in node_modules whose package has a name and a version. */
function folderOf(module: string): string | null {
  const path = module.replace(/^\0/, "").split("?")[0] ?? "";
  if (!path.includes("/node_modules/")) return null;
  for (let folder = dirname(path); folder.includes("/node_modules/"); folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json")) && manifest(folder).version !== undefined) return folder;
  }
  throw new Error(`${module} is of no package`);
}

function describe(folder: string): string {
  const { name, version, license } = manifest(folder);
  const texts = readdirSync(folder).filter((file) => TEXT.test(file)).sort();
  if (texts.length === 0) throw new Error(`${name} has no text of its licence`);
  const contents = texts.map((file) => readFileSync(join(folder, file), "utf8").trim());
  return `${name} ${version}: ${license}\n\n${contents.join("\n\n")}\n`;
}

function manifest(folder: string): { name: string; version?: string; license: string } {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
