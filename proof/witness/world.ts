import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, renameSync, writeFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { freePort } from "../../service/src/postgres/free-port.ts";
import { startTemporaryServer } from "../../service/test/temporary-server.ts";

/** Two days before the end of a month and three hours before the end of a day. */
const START = Date.UTC(2027, 0, 29, 21);
/** Their names in /metrics, which operators build alerts on. */
const JOBS = ["usage", "expiries", "request log"];
const JOBS_SECONDS_MAX = 60;

/** A tree's service on its own PostgreSQL, both with a clock that stands still until it is moved. */
export type World = {
  readonly url: string;
  readonly setupToken: string;
  readonly clock: Clock;
  query(text: string): Promise<Record<string, string | null>[]>;
  /** Ends when every job has run so many more times: what was due by now is done. */
  awaitJobs(runs: number): Promise<void>;
};

export class Clock {
  readonly #file: string;
  #now = START;

  constructor(file: string) {
    this.#file = file;
    this.advance(0);
  }

  get now(): number {
    return this.#now;
  }

  /** Renamed into place: nobody ever reads half a time. */
  advance(ms: number): void {
    this.#now += ms;
    // libfaketime reads the fraction as a double and cuts it: half a microsecond more keeps the millisecond.
    const text = new Date(this.#now).toISOString().replace("T", " ").replace("Z", "0005");
    writeFileSync(`${this.#file}.new`, text);
    renameSync(`${this.#file}.new`, this.#file);
  }

  get environment(): Record<string, string> {
    const [library] = globSync("/usr/lib/*/faketime/libfaketimeMT.so.1");
    if (library === undefined) throw new Error("needs libfaketime (Debian: apt-get install faketime)");
    return {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      // PostgreSQL runs as another user, who could not open what this one shares.
      FAKETIME_DISABLE_SHM: "1",
      NO_FAKE_STAT: "1",
      TZ: "UTC",
    };
  }
}

export async function openWorld(tree: string, stack: AsyncDisposableStack): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "purser-witness-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o755);
  const clock = new Clock(join(directory, "clock"));
  const settings = ["autovacuum=off", "timezone=UTC"];
  const server = await startTemporaryServer("witness", { settings, environment: clock.environment });
  stack.defer(() => server.stop());
  const databaseUrl = server.url("postgres");
  const environment = { PATH: process.env["PATH"], ...clock.environment, DATABASE_URL: databaseUrl };
  await migrate(tree, environment);
  const { url, metricsUrl, setupToken } = await serve(tree, environment, stack);
  const client = new pg.Client(databaseUrl);
  await client.connect();
  stack.defer(() => client.end());
  return {
    url,
    setupToken,
    clock,
    query: async (text) => (await client.query(text)).rows,
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

type Environment = Record<string, string | undefined>;

const mainOf = (tree: string): string => join(tree, "service/src/main.ts");

async function migrate(tree: string, env: Environment): Promise<void> {
  const child = spawn(process.execPath, [mainOf(tree), "migrate"], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`purser migrate of ${tree} ended with code ${code}`);
}

type Served = { readonly url: string; readonly metricsUrl: string; readonly setupToken: string };

async function serve(tree: string, environment: Environment, stack: AsyncDisposableStack): Promise<Served> {
  const preload = join(import.meta.dirname, "ordered-ids.ts");
  const env = { ...environment, PORT: String(await freePort()), METRICS_PORT: "0", LOG_LEVEL: "info" };
  const child = spawn(process.execPath, ["--import", preload, mainOf(tree), "serve"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  stack.defer(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  let ready: Omit<Served, "setupToken"> | null = null;
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, url, metricsUrl, setupUrl } = JSON.parse(line);
    if (msg === "ready") ready = { url, metricsUrl };
    if (setupUrl === undefined || ready === null) continue;
    // Nobody reads the rest, and a full pipe would stop the service.
    child.stdout.resume();
    return { ...ready, setupToken: String(setupUrl).split("#")[1] ?? "" };
  }
  throw new Error(`the service of ${tree} did not start`);
}

const RUN = /^purser_job_runs_total\{job="([^"]+)",outcome="done"\} (\d+)$/gm;

async function countRuns(metricsUrl: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  return new Map([...text.matchAll(RUN)].map(([, job = "", runs]) => [job, Number(runs)]));
}
