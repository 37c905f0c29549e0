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
leader is killed, switched over, paused, and disconnected; standbys and etcd stop; waits for a standby are interrupted. Checks, like
npm run faults, that no acknowledged request is lost or applied twice, and sends acknowledged requests again. Each run is one part. Its
result is added to the file, and the totals include all parts of the same commit. Needs Linux, root, and Debian's patroni, etcd-server, haproxy and
postgresql-15.
Exit code 0: pass; 1: fail; 2: unknown, because something could not be checked.`,
    options: {
      minutes: { default: 45, help: "minutes of fault injection; the checks take a few more minutes" },
      faults: { default: null, takes: "NAMES", help: "only these faults, separated by commas" },
      results: {
        default: join(tmpdir(), "purser-failover.ndjson"),
        takes: "FILE",
        help: "file with the results of all parts",
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
