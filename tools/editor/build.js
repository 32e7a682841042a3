// npm ci && npm run build: writes s2s_ad/cli/assets/editor.js, and the licences of what is in it.
import { readFileSync, writeFileSync, existsSync } from "node:fs";
import { build } from "esbuild";

const assets = new URL("../../s2s_ad/cli/assets/", import.meta.url).pathname;
const made = await build({
  entryPoints: ["editor.js"], bundle: true, minify: true, format: "iife", target: "es2020",
  legalComments: "none", write: false, metafile: true,
});
const folders = new Set(Object.keys(made.metafile.inputs).map((each) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(each)?.[1]).filter(Boolean));
const packages = [...folders].sort().map((name) => ({ name, ...JSON.parse(readFileSync(`node_modules/${name}/package.json`)) }));
const listed = packages.map((each) => `${each.name} ${each.version} (${each.license})`);
const banner = `// Made by tools/editor of: ${listed.join(", ")}. Licences: editor.LICENSES.txt\n`;
writeFileSync(`${assets}editor.js`, banner + made.outputFiles[0].text);
const licences = new Map();
for (const each of packages) {
  const path = `node_modules/${each.name}/LICENSE`;
  const text = existsSync(path) ? readFileSync(path, "utf8").trim() : each.license;
  licences.set(text, [...(licences.get(text) || []), `${each.name} ${each.version}`]);
}
writeFileSync(`${assets}editor.LICENSES.txt`,
  [...licences].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`).join("\n\n"));
