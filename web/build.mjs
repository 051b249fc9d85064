// Builds the page: one script, one style sheet, one document and the licences of what is in them.
// `node build.mjs [FOLDER]` writes them into a folder, by default that of the package; `--tests` builds the unit tests.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const common = {
    absWorkingDir: here,
    bundle: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
    legalComments: "none",
};

if (process.argv.includes("--tests")) {
    const tests = readdirSync(join(here, "tests")).filter((name) => name.endsWith(".test.ts"));
    const lines = tests.map((name) => `import "./tests/${name}";`).join("\n");
    await build({
        ...common,
        stdin: { contents: lines, resolveDir: here },
        platform: "node",
        outfile: "build/tests.mjs",
    });
} else {
    const folder = process.argv[2] ?? join(here, "../src/bellcrank/viewer/page/static");
    mkdirSync(folder, { recursive: true });
    const made = await build({
        ...common,
        entryPoints: { page: "src/main.tsx" },
        outdir: folder,
        minify: true,
        metafile: true,
        loader: { ".css": "css" },
    });
    cpSync(join(here, "index.html"), join(folder, "index.html"));
    const packages = new Set(
        Object.keys(made.metafile.inputs).flatMap(
            (path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? [],
        ),
    );
    const licences = [...packages].sort().map((name) => {
        const root = join(here, "node_modules", name);
        const { version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
        const file = readdirSync(root).find((one) => /^licen[cs]e/i.test(one));
        const text = file ? readFileSync(join(root, file), "utf8").trim() : "";
        return `${name} ${version} (${license})\n\n${text}\n`;
    });
    writeFileSync(join(folder, "LICENSES.txt"), licences.join("\n" + "-".repeat(72) + "\n\n"));
    for (const name of ["page.js", "page.css"]) {
        const data = readFileSync(join(folder, name));
        const sum = createHash("sha256").update(data).digest("hex").slice(0, 12);
        console.log(`${name}  ${(data.length / 1000).toFixed(0)} kB  ${sum}`);
    }
}
