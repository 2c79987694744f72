import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { licences } from "./licences";

// The names carry no hashes: the page is served by the binary that it was built into.
export default defineConfig({
  plugins: [svelte(), licences()],
  build: {
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: { entryFileNames: "app.js", assetFileNames: "app.[ext]", inlineDynamicImports: true },
    },
  },
  // A controller to look at while the page is worked on: BRAID_CONTROLLER=http://127.0.0.1:8653 npx vite
  server: { proxy: { "/api": process.env["BRAID_CONTROLLER"] ?? "http://127.0.0.1:8653" } },
});
