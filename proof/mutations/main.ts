import { spawn } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MUTATIONS, type Mutation } from "./mutations.ts";

// Proves that the tests can fail: applies each mutation to a copy of the code, and expects a failing test. Without mutations,
// all of these tests must pass.

const ROOT = join(import.meta.dirname, "../..");
/** Time for all tests without a mutation, on a slow machine. */
const ALL_MS = 600_000;
const HANG_MS = 120_000;
const COPIED = ["service", "proof", "docs", "openapi", "package.json", "tsconfig.json", "vitest.config.ts"];

const copy = await mkdtemp(join(tmpdir(), "purser-mutations-"));
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
  const all = [...new Set(MUTATIONS.flatMap(({ tests }) => tests))];
  const startMs = performance.now();
  const isGreen = await passes(all, ALL_MS);
  // With a mutation, fewer tests run.
  const hangMs = Math.max(HANG_MS, performance.now() - startMs);
  console.log(
    isGreen
      ? "the tests pass without a mutation"
      : "the tests fail without a mutation, so nothing can be proven",
  );
  if (!isGreen) return false;
  let missed = 0;
  for (const mutation of MUTATIONS) {
    const isMissed = await withMutation(mutation, () => passes(mutation.tests, hangMs));
    console.log(`${isMissed ? "MISSED" : "caught"}  ${mutation.name}`);
    if (isMissed) missed += 1;
  }
  console.log(JSON.stringify({ mutations: MUTATIONS.length, caught: MUTATIONS.length - missed }));
  return missed === 0;
}

async function withMutation<T>(mutation: Mutation, work: () => Promise<T>): Promise<T> {
  const file = join(copy, mutation.file);
  const original = await readFile(file, "utf8");
  let text = original;
  for (const { find, replace } of mutation.edits) {
    if (text.split(find).length !== 2)
      throw new Error(`${mutation.file} does not contain this exactly once: ${find}`);
    text = text.replace(find, () => replace);
  }
  await writeFile(file, text);
  try {
    return await work();
  } finally {
    await writeFile(file, original);
  }
}

/** Whether these tests pass in the copy. Tests that take longer than `hangMs` count as failed. */
function passes(tests: readonly string[], hangMs: number): Promise<boolean> {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const child = spawn(process.execPath, [vitest, "run", "--bail", "1", ...tests], {
    cwd: copy,
    stdio: "ignore",
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), hangMs);
  return new Promise((resolve, reject) => {
    child.once("exit", () => clearTimeout(timer));
    child.once("error", reject);
    child.once("exit", (code) => resolve(code === 0));
  });
}
