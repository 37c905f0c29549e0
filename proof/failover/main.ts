import { appendFile, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXIT_CODE } from "../faults/report.ts";
import { runProof } from "../harness/command.ts";
import { type Part, runPart } from "./part.ts";
import { describeParts, totalsOf } from "./totals.ts";

await runProof(
  {
    command: "npm run failover",
    about: `Runs two services on a cluster of three PostgreSQL 15 nodes with Patroni, etcd and HAProxy, and injects faults under load: the
leader is killed, switched over, stopped, and cut off; standbys and etcd disappear; waits for a standby are interrupted. Checks, like
npm run faults, that no acknowledged request is lost or applied twice, and sends acknowledged requests again. Each run is a part, whose
result is added to the file; the totals are those of all parts of the same commit. Needs Linux, root, and Debian's patroni, etcd-server, haproxy and
postgresql-15.
Exit code 0: pass; 1: fail; 2: unknown, because something could not be checked.`,
    options: {
      minutes: { default: 45, help: "no fault starts after this time; the checks take a few more minutes" },
      faults: { default: null, takes: "NAMES", help: "only these faults, separated by commas" },
      results: {
        default: join(tmpdir(), "purser-failover.ndjson"),
        takes: "FILE",
        help: "where the results of all parts are",
      },
    },
    exitCodeOnError: EXIT_CODE.unknown,
  },
  async ({ options: { minutes, faults, results }, stack }) => {
    const historyFile = join(tmpdir(), `purser-failover-history-${process.pid}.jsonl`);
    console.log(`history: ${historyFile}`);
    const part = await runPart({ minutes, only: faults?.split(",") ?? null, historyFile, stack });
    await appendFile(results, `${JSON.stringify(part)}\n`);
    if (part.verdict === "pass") await rm(historyFile);
    const parts = (await readFile(results, "utf8"))
      .trim()
      .split("\n")
      .map((line): Part => JSON.parse(line))
      .filter(({ commit }) => commit === part.commit);
    console.log(describeParts(parts));
    return { figures: totalsOf(parts), exitCode: EXIT_CODE[part.verdict] };
  },
);
