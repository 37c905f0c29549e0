import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBlocks, PAGES_WITH_COMMANDS, ROOT, readPage } from "./blocks.ts";

// Runs the shell blocks of README and docs, page by page from top to bottom, against a running `purser dev`. The
// argument is the file with its output. Stops at the first command that fails or returns an error.

const [, , outputFile = ""] = process.argv;
const output = readFileSync(outputFile, "utf8");

/** Returns the value after a label in the output of `dev`. */
function printed(label: string): string {
  const value = output.match(new RegExp(`^${label} +(\\S+)$`, "m"))?.[1];
  if (value === undefined) throw new Error(`dev did not print "${label}"`);
  return value;
}

const PLACEHOLDERS: readonly (readonly [string, string])[] = [
  ["http://127.0.0.1:3300", printed("Purser is ready at")],
  ["pur_test_…", printed("Test key")],
  ["pur_live_…", printed("Live key")],
  ["pur_mgmt_…", printed("Management")],
  ["DATABASE_URL=…", `DATABASE_URL='${printed("Database")}'`],
];

const fill = (code: string): string =>
  PLACEHOLDERS.reduce((text, [placeholder, value]) => text.replaceAll(placeholder, value), code);

/**
 * Any error stops the script, even an error in a pipe, in `$(…)` or in a response. When the script ends, so do the servers that a page
 * started in the background.
 */
const PRELUDE = `set -euo pipefail
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
shopt -s inherit_errexit
curl() { command curl --fail "$@"; }
export PURSER_KEY=pur_test_… PURSER_TOKEN=pur_mgmt_… PURSER_URL=http://127.0.0.1:3300
`;

/** A directory for the files that blocks write, in which `npx purser` works as in a checkout. */
const directory = mkdtempSync(join(tmpdir(), "purser-docs-"));
for (const name of ["node_modules", "package.json", "docs"])
  symlinkSync(join(ROOT, name), join(directory, name));

let count = 0;
try {
  for (const page of PAGES_WITH_COMMANDS) {
    const blocks = findBlocks(readPage(page)).filter(({ reason }) => reason === null);
    if (blocks.length === 0) continue;
    const script = blocks.map(({ line, code }) => `echo '== ${page}:${line}' >&2\n${code}\n`).join("");
    const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, HOME, NODE_COMPILE_CACHE };
    const run = spawnSync("bash", ["-c", fill(PRELUDE + script)], { cwd: directory, env, encoding: "utf8" });
    if (run.status !== 0) {
      console.error(
        `${run.stderr}${run.stdout.slice(-2_000)}\n${page} failed in the last block named above.`,
      );
      process.exitCode = 1;
      break;
    }
    count += blocks.length;
  }
} finally {
  rmSync(directory, { recursive: true });
}
console.log(`${count} blocks of README and docs ran without an error`);
