import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { notices } from "./notices.ts";

// One script with its styles inside: a page takes it in whole, opens from disk and loads nothing.
export default defineConfig({
  plugins: [svelte({ compilerOptions: { css: "injected" }, emitCss: false }), notices("charts.licenses.md")],
  build: {
    outDir: "../python/thalweg/report/assets",
    emptyOutDir: true,
    target: "es2022",
    license: { fileName: "charts.licenses.md" },
    lib: { entry: "src/main.ts", formats: ["iife"], name: "ThalwegCharts", fileName: () => "charts.js" },
  },
  test: { include: ["tests/**/*.test.ts"] },
});
