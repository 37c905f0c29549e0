import { type ChildProcess, execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { createProject } from "../../service/src/manage/projects/create-project.ts";
import { freePort } from "../../service/src/postgres/free-port.ts";
import { migrate } from "../../service/src/postgres/migrate.ts";
import { openPool } from "../../service/src/postgres/pool.ts";
import { type BenchServer, countRows } from "./server.ts";

const DATABASE = "purser";
/** A service runs for weeks; its first seconds, while the compiler is at work, are not what is measured. */
const FIRST_WARM_UP_SECONDS = 8;
const WARM_UP_SECONDS = 2;
const run = promisify(execFile);

export type PurserBench = {
  run(options: { seconds: number; connections: number }): Promise<{ perSecond: number; p99Ms: number }>;
  stop(): Promise<void>;
};

/** The service as a process of its own, as it is run in production, and wrk as its caller. */
export async function preparePurser(server: BenchServer): Promise<PurserBench> {
  await server.query("postgres", `create database ${DATABASE}`);
  const client = new pg.Client(server.url(DATABASE));
  await client.connect();
  await migrate(client);
  await client.end();
  const pool = openPool({ url: server.url(DATABASE), name: "bench", sizeMax: 1, onIdleError: () => {} });
  const project = await createProject(pool, "Bench");
  await pool.end();
  // They exist, as a product's customers do after its first days.
  await server.query(
    DATABASE,
    `insert into cell.customers (environment_id, customer_id, created_at)
     select ${project.live.environmentId}, 'customer_' || n, now()
     from generate_series(1, 100000) as n`,
  );

  const port = await freePort();
  const service = await startService(server.url(DATABASE), port);
  const load = (seconds: number, connections: number): Promise<WrkResult> =>
    runWrk({ url: `http://127.0.0.1:${port}`, apiKey: project.live.key.secret, seconds, connections });
  await load(FIRST_WARM_UP_SECONDS, 64);

  return {
    async run({ seconds, connections }) {
      await load(WARM_UP_SECONDS, connections);
      await new Promise((resolve) => setTimeout(resolve, 500)); // what was under way lands before the count
      const before = await countRows(server, DATABASE, "cell.events");
      const result = await load(seconds, connections);
      const counted = (await countRows(server, DATABASE, "cell.events")) - before;
      if (result.errors > 0) throw new Error(`${result.errors} calls failed`);
      // Those under way when wrk stops are stored but not counted by it.
      if (counted < result.requests || counted > result.requests + connections) {
        throw new Error(`wrk read ${result.requests} answers, but ${counted} events are stored`);
      }
      return { perSecond: result.requests / result.seconds, p99Ms: result.p99Ms };
    },
    stop: () => stop(service),
  };
}

type WrkResult = { requests: number; seconds: number; errors: number; p99Ms: number };

async function runWrk(options: {
  url: string;
  apiKey: string;
  seconds: number;
  connections: number;
}): Promise<WrkResult> {
  const { stdout } = await run(
    "wrk",
    [
      ...["-t", "1", "-c", String(options.connections), "-d", `${options.seconds}s`],
      ...["-s", join(import.meta.dirname, "events.lua"), options.url],
    ],
    // A new prefix for each run: a load that reuses its keys measures replays.
    {
      env: { PATH: process.env["PATH"], API_KEY: options.apiKey, RUN: `${process.pid}-${performance.now()}` },
    },
  );
  const line = stdout.trim().split("\n").at(-1) ?? "";
  return JSON.parse(line);
}

function startService(databaseUrl: string, port: number): Promise<ChildProcess> {
  const main = join(import.meta.dirname, "../../service/src/main.ts");
  // As `npm run purser -- serve` and the README start it.
  const child = spawn(process.execPath, ["--max-semi-space-size=64", main, "serve"], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      METRICS_PORT: "0",
      LOG_LEVEL: "info",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the service ended with code ${code}`)));
    child.stdout.on("data", (chunk: Buffer) => {
      if (chunk.includes('"msg":"ready"')) resolve(child);
    });
  });
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}
