import type { Plugin } from "vite";

/**
 * Puts the notices of `build.license`, which Vite writes to `file`, in front of the script too: who passes on a page passes
 * on the libraries in it. Fails if a library has no licence text.
 */
export function notices(file: string): Plugin {
  return {
    name: "notices",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const found = bundle[file];
        const script = Object.values(bundle).find((one) => one.type === "chunk");
        if (found?.type !== "asset" || script?.type !== "chunk") throw new Error("a script and its notices are expected");
        const text = String(found.source).trim();
        const bare = text.split(/^## /m).slice(1).filter((section) => !/copyright/i.test(section));
        if (bare.length > 0) throw new Error(`no licence text: ${bare.map((section) => section.split("\n")[0]).join(", ")}`);
        found.source = `${text}\n`;
        script.code = `/*!\n${text.replaceAll("*/", "* /")}\n*/\n${script.code}`;
      },
    },
  };
}
