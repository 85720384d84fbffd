import { readFileSync } from "node:fs";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";
import { notices } from "../notices.ts";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");

/** A macro of the style of the report pages, so that the studio looks as they do. */
function macro(name: string): string {
  const style = read("../../python/thalweg/report/templates/style.html");
  const found = new RegExp(`\\{% macro ${name}\\(\\) -%\\}([^]*?)\\{%- endmacro %\\}`).exec(style);
  if (!found) throw new Error(`the style has no macro ${name}`);
  return found[1]!.trim();
}

/** Puts style and script into the page: one file that loads nothing. */
function page(): Plugin {
  return {
    name: "page",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const script = Object.values(bundle).find((one) => one.type === "chunk");
        if (script?.type !== "chunk") throw new Error("a script is expected");
        let text = read("page.html");
        for (const name of ["light", "dark", "fonts", "rules"]) text = text.replace(`/* ${name} */`, () => macro(name));
        text = text.replace("/* script */", () => script.code.trim().replaceAll("</script", "<\\/script"));
        delete bundle[script.fileName];
        this.emitFile({ type: "asset", fileName: "studio.html", source: text });
      },
    },
  };
}

export default defineConfig({
  plugins: [svelte({ compilerOptions: { css: "injected" }, emitCss: false }), notices("studio.licenses.md"), page()],
  build: {
    outDir: "../python/thalweg/studio",
    emptyOutDir: false,
    target: "es2022",
    license: { fileName: "studio.licenses.md" },
    lib: { entry: "studio/main.ts", formats: ["iife"], name: "ThalwegStudio", fileName: () => "studio.js" },
  },
});
