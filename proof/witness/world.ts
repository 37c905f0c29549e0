import { once } from "node:events";
import { globSync, renameSync, writeFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startTemporaryServer } from "../../service/test/temporary-server.ts";
import { type Database, databaseAt } from "../harness/database.ts";
import { Service, spawnPurser } from "../harness/purser.ts";

/** Two days before the end of a month and three hours before the end of a day. */
const START = Date.UTC(2027, 0, 29, 21);
/** Job names in /metrics, which operators use in alerts. */
const JOBS = ["usage", "expiries", "request log"];
const JOBS_SECONDS_MAX = 60;

/** The service of one tree with its own PostgreSQL. Both use a clock that moves only when it is advanced. */
export type World = Pick<Database, "query"> & {
  readonly url: string;
  readonly setupToken: string;
  readonly clock: Clock;
  /** Returns when every job has run this many more times, so that everything due has been done. */
  awaitJobs(runs: number): Promise<void>;
};

export async function openWorld(tree: string, stack: AsyncDisposableStack): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "purser-witness-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o755);
  const clock = new Clock(join(directory, "clock"));
  const { environment } = clock;
  const settings = ["autovacuum=off", "timezone=UTC"];
  const server = await startTemporaryServer("witness", { settings, environment });
  stack.defer(() => server.stop());
  const { query, url: databaseUrl } = databaseAt(server.url("postgres"));
  await migrate(tree, { ...environment, DATABASE_URL: databaseUrl });
  const node = ["--import", join(import.meta.dirname, "ordered-ids.ts")];
  const service = await Service.start(databaseUrl, stack, { tree, node, environment });
  const [, setupToken = ""] = (await service.logged("setupUrl")).split("#");
  const metricsUrl = await service.logged("metricsUrl");
  return {
    url: service.url,
    setupToken,
    clock,
    query,
    awaitJobs: async (runs) => {
      const before = await countRuns(metricsUrl);
      for (let waitedMs = 0; waitedMs < (JOBS_SECONDS_MAX + runs * 2) * 1_000; waitedMs += 50) {
        const now = await countRuns(metricsUrl);
        if (JOBS.every((job) => (now.get(job) ?? 0) >= (before.get(job) ?? 0) + runs)) return;
        await pause(50);
      }
      throw new Error(`the jobs ${JOBS.join(", ")} did not run ${runs} times within ${JOBS_SECONDS_MAX} s`);
    },
  };
}

async function migrate(tree: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const child = spawnPurser(["migrate"], environment, { tree });
  child.stdout.resume();
  child.stderr.pipe(process.stderr);
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`purser migrate of ${tree} ended with code ${code}`);
}

// The label was `job` in older commits.
const RUN = /^purser_job_runs_total\{(?:job|name)="([^"]+)",outcome="done"\} (\d+)$/gm;

async function countRuns(metricsUrl: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  return new Map([...text.matchAll(RUN)].map(([, job = "", runs]) => [job, Number(runs)]));
}

class Clock {
  readonly #file: string;
  #now = START;

  constructor(file: string) {
    this.#file = file;
    this.advance(0);
  }

  get now(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms;
    // libfaketime parses the fraction as a double and truncates it. Half a microsecond more keeps the millisecond.
    const text = new Date(this.#now).toISOString().replace("T", " ").replace("Z", "0005");
    // Renamed into place, so that no process reads a partial time.
    writeFileSync(`${this.#file}.new`, text);
    renameSync(`${this.#file}.new`, this.#file);
  }

  /** Environment variables with which a process uses this clock. */
  get environment(): Record<string, string> {
    const [library] = globSync("/usr/lib/*/faketime/libfaketimeMT.so.1");
    if (library === undefined) throw new Error("needs libfaketime (Debian: apt-get install faketime)");
    return {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      // PostgreSQL runs as another user, which cannot open this user's shared memory.
      FAKETIME_DISABLE_SHM: "1",
      NO_FAKE_STAT: "1",
      TZ: "UTC",
    };
  }
}
