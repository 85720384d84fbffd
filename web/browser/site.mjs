// Looks at pages of the site in light and dark and on a phone, and prints as JSON what axe-core finds, what is wider than a phone, and
// what the Tab key does not reach or does not show:
// `node browser/site.mjs BROWSER FOLDER PAGE…`. `tools/docsite.py --look` runs it.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { walk } from "./keyboard.mjs";

const [executablePath, folder, ...pages] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDE = { viewport: { width: 1280, height: 860 } };
const KINDS = { light: WIDE, dark: { ...WIDE, colorScheme: "dark" }, phone: { viewport: { width: 390, height: 844 } } };
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: 600_000 });
const problems = [];
for (const [kind, options] of Object.entries(KINDS)) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(600_000);
  context.setDefaultNavigationTimeout(600_000);
  for (const name of pages) {
    const page = await context.newPage();
    page.on("pageerror", (error) => problems.push(`${kind} ${name}: ${error.message}`));
    await page.goto(pathToFileURL(`${folder}/${name}`).href);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run());
    for (const one of violations) problems.push(`${kind} ${name}: ${one.id}, ${one.nodes.length} times: ${one.nodes[0].html.slice(0, 120)}`);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (overflow > 0) problems.push(`${kind} ${name}: ${overflow} pixels wider than the window`);
    if (kind === "light") {
      await page.reload();
      for (const one of await walk(page)) problems.push(`keyboard ${name}: ${one}`);
    }
    await page.close();
  }
  await context.close();
}
await browser.close();
console.log(JSON.stringify({ pages: pages.length, problems }));
