import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

// Computes .ci/postgres-15 again, for example after tests have become slow. Runs all tests of the service on PostgreSQL 15, which
// takes as long as in the nightly run:
//   node .ci/choose-postgres-15.ts

const ROOT = join(import.meta.dirname, "..");
const LIST = join(ROOT, ".ci/postgres-15");

type Statement = { readonly name: string; readonly files: readonly string[] };
type Results = {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly duration?: number | null }[];
  }[];
};

const directory = mkdtempSync(join(tmpdir(), "purser-statements-"));
try {
  const [statementsFile, timesFile] = [join(directory, "statements.json"), join(directory, "times.json")];
  const { status } = spawnSync(
    "npx",
    [
      "vitest",
      "run",
      "--project",
      "service",
      "--reporter=default",
      "--reporter=json",
      `--outputFile=${timesFile}`,
    ],
    {
      cwd: ROOT,
      stdio: "inherit",
      env: { ...process.env, TEST_POSTGRES: "15", EVERY_STATEMENT: "1", STATEMENTS_RUN: statementsFile },
    },
  );
  if (status !== 0) throw new Error("the tests must pass first");
  const statements = JSON.parse(readFileSync(statementsFile, "utf8")) as Statement[];
  const chosen = choose(statements, readTimes(timesFile));
  const comment = readFileSync(LIST, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("#"));
  writeFileSync(LIST, `${[...comment, ...chosen.map((file) => relative(ROOT, file)).sort()].join("\n")}\n`);
} finally {
  rmSync(directory, { recursive: true });
}

/** The total duration of each file's tests, in milliseconds. */
function readTimes(path: string): Map<string, number> {
  const { testResults } = JSON.parse(readFileSync(path, "utf8")) as Results;
  return new Map(
    testResults.map(({ name, assertionResults }) => [
      name,
      assertionResults.reduce((sum, { duration }) => sum + (duration ?? 0), 0),
    ]),
  );
}

/** Adds the file with the most missing statements per time until none is missing. Then drops files that are no longer needed. */
function choose(statements: readonly Statement[], times: ReadonlyMap<string, number>): string[] {
  const timeOf = (file: string): number => times.get(file) ?? Number.POSITIVE_INFINITY;
  const chosen: string[] = [];
  let missing = [...statements];
  while (missing.length > 0) {
    const gains = Map.groupBy(
      missing.flatMap(({ files }) => files),
      (file) => file,
    );
    const [best] = [...gains].sort(
      ([a, inA], [b, inB]) => inB.length / timeOf(b) - inA.length / timeOf(a) || a.localeCompare(b),
    );
    if (best === undefined) throw new Error(`no file runs ${missing.map(({ name }) => name).join(", ")}`);
    chosen.push(best[0]);
    missing = missing.filter(({ files }) => !files.includes(best[0]));
  }
  for (const file of chosen.toSorted((a, b) => timeOf(b) - timeOf(a))) {
    const others = chosen.filter((other) => other !== file);
    if (statements.every(({ files }) => files.some((other) => others.includes(other))))
      chosen.splice(chosen.indexOf(file), 1);
  }
  return chosen;
}
