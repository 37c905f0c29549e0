import { spawn } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUGS, type PlantedBug } from "./bugs.ts";

// A test that cannot fail proves nothing. Each of these mistakes is made in a copy of the code, and must turn a test red;
// without them all must be green.

const ROOT = join(import.meta.dirname, "../..");
const HANG_MS = 120_000;
const COPIED = ["service", "proof", "docs", "openapi", "package.json", "tsconfig.json", "vitest.config.ts"];

const copy = await mkdtemp(join(tmpdir(), "purser-planted-"));
let isProven = false;
try {
  for (const name of COPIED) await cp(join(ROOT, name), join(copy, name), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
  isProven = await prove();
} finally {
  await rm(copy, { recursive: true });
}
process.exit(isProven ? 0 : 1);

async function prove(): Promise<boolean> {
  const all = [...new Set(BUGS.flatMap(({ tests }) => tests))];
  const isGreen = await passes(all);
  console.log(isGreen ? "green without a bug" : "red without any bug: nothing can be shown");
  if (!isGreen) return false;
  let missed = 0;
  for (const bug of BUGS) {
    const isMissed = await withBug(bug, () => passes(bug.tests));
    console.log(`${isMissed ? "MISSED" : "red  "}  ${bug.name}`);
    if (isMissed) missed += 1;
  }
  console.log(JSON.stringify({ planted: BUGS.length, caught: BUGS.length - missed }));
  return missed === 0;
}

async function withBug<T>(bug: PlantedBug, work: () => Promise<T>): Promise<T> {
  const file = join(copy, bug.file);
  const original = await readFile(file, "utf8");
  let text = original;
  for (const { find, replace } of bug.edits) {
    if (text.split(find).length !== 2) throw new Error(`${bug.file} does not hold this once: ${find}`);
    text = text.replace(find, () => replace);
  }
  await writeFile(file, text);
  try {
    return await work();
  } finally {
    await writeFile(file, original);
  }
}

/** Whether these tests pass in the copy. */
function passes(tests: readonly string[]): Promise<boolean> {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const child = spawn(process.execPath, [vitest, "run", "--bail", "1", ...tests], {
    cwd: copy,
    stdio: "ignore",
  });
  // A bug that makes a test hang has turned it red.
  const timer = setTimeout(() => child.kill("SIGKILL"), HANG_MS);
  return new Promise((resolve, reject) => {
    child.once("exit", () => clearTimeout(timer));
    child.once("error", reject);
    child.once("exit", (code) => resolve(code === 0));
  });
}
