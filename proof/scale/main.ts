import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { Caller } from "../harness/caller.ts";
import { runProof, toCount } from "../harness/command.ts";
import { count, rate } from "../harness/figures.ts";
import { PostgresServer } from "../harness/postgres.ts";
import { openProject } from "../harness/project.ts";
import { Service, startVerify } from "../harness/purser.ts";
import { type Asked, ask, findCursors } from "./ask.ts";
import { checkAnswers } from "./check-answers.ts";
import { prepare } from "./fill.ts";
import { loadEvents } from "./load.ts";
import { questionsAbout } from "./questions.ts";
import { findFaults, printTable, type Sized, summarize } from "./report.ts";
import { openWorld, type World } from "./world.ts";

/** Typical for a server with 8 GB of memory and many writes. */
const SETTINGS = [
  "shared_buffers=2GB",
  "max_wal_size=6GB",
  "checkpoint_timeout=15min",
  "wal_compression=on",
  "maintenance_work_mem=256MB",
];
/**
 * Vacuumed before the measurement, because autovacuum would otherwise run during it. Small tables are not included: autovacuum
 * skips them, and queries must be fast without their statistics.
 */
const VACUUMED = ["cell.events", "cell.ledger", "cell.usage_buckets", "cell.usage_customer_days"];
const BYTES_PER_EVENT = 600;
const WAL_BYTES = 8 * 2 ** 30;
const CURSORS = 50;

await runProof(
  {
    command: "npm run scale-proof",
    about: `Loads 5 million events from 13 months into a database, lets the service roll them up, and measures every usage query over HTTP
with varying parameters. Repeats this with 50 million events in another database. Fails if a response is wrong, or if a query exceeds
its limit at p95: 300 ms for the usage of a project by day over 90 days, 50 ms for one customer's month, 100 ms for any page of events.
Then checks the roll-ups with \`purser verify --usage\`. 50 million events need about 30 GB of disk, which is freed at the end.`,
    options: {
      events: {
        default: "5000000,50000000",
        takes: "N,N",
        help: "number of events per run, in ascending order",
      },
      customers: { default: 100_000, help: "number of customers" },
      calls: { default: 100, help: "number of calls per query; slow queries get fewer" },
      "verify-s": { default: 600, help: "stop `purser verify --usage` after this many seconds" },
      slack: { default: 1, help: "multiply all limits by this, for a busy machine" },
    },
  },
  async ({ options, stack }) => {
    const sizes = options.events.split(",").map((text) => toCount("events", text));
    if (sizes.some((size, index) => size <= (sizes[index - 1] ?? 0)))
      throw new Error(`--events takes numbers in ascending order, not ${options.events}`);
    await refuseSmallDisk(sizes.at(-1) ?? 0);
    const world = openWorld(options.customers);
    const measuring = { world, calls: options.calls, verifySeconds: options["verify-s"], stack };
    const sized: Sized[] = [];
    for (const events of sizes) sized.push(await measure(events, measuring));
    const questions = questionsAbout(world, []);
    printTable(questions, sized);
    return {
      faults: findFaults(questions, sized, options.slack),
      figures: summarize(world.customers, sized),
    };
  },
);

type Measuring = {
  readonly world: World;
  readonly calls: number;
  readonly verifySeconds: number;
  readonly stack: AsyncDisposableStack;
};

/** Uses a new installation for each size: loading the same months twice would give the rows an unrealistic physical order. */
async function measure(events: number, { world, calls, verifySeconds, stack }: Measuring): Promise<Sized> {
  await using own = stack.use(new AsyncDisposableStack());
  const server = await PostgresServer.start(own, SETTINGS);
  const database = await server.createDatabase("purser");
  const project = await openProject(database.url);
  await prepare(database, project, world);
  const caller = new Caller(await Service.start(database.url, own), project);
  const loaded = await loadEvents(database, project, world, events);
  await database.query(`vacuum (analyze) ${VACUUMED.join(", ")}`);
  await database.query("checkpoint");
  const [row] = await database.query("select pg_database_size(current_database()) as bytes");
  const bytes = Number(row?.["bytes"]);
  console.log(
    `${count(events)} events from ${count(world.customers)} customers, ${(bytes / 1e9).toFixed(1)} GB: loaded in ` +
      `${loaded.loadSeconds.toFixed(1)} s during the roll-up, which was complete ${loaded.catchUpSeconds.toFixed(1)} s later ` +
      `(${rate(loaded.catchUpPerSecond)} after loading, ${rate(loaded.perSecond)} overall)`,
  );
  const asked = await askAll(caller, world, calls);
  // A wrong response is reported at the end, because the measurements take an hour.
  const wrong = await checkAnswers({ database, project, caller }, world, events).then(() => null, String);
  const verified = await verifySums(database.url, verifySeconds);
  console.log(describeVerified(verified));
  return { events, bytes, loaded, asked, wrong, verified };
}

async function askAll(caller: Caller, world: World, calls: number): Promise<Map<string, Asked>> {
  const cursors = await findCursors(caller, world, CURSORS);
  const asked = new Map<string, Asked>();
  for (const question of questionsAbout(world, cursors))
    asked.set(question.name, await ask(caller, question, calls));
  return asked;
}

async function verifySums(databaseUrl: string, secondsMax: number): Promise<Sized["verified"]> {
  const verification = startVerify(databaseUrl, ["--usage"]);
  const timer = setTimeout(() => verification.stop(), 1_000 * secondsMax);
  const verified = await verification.ended;
  clearTimeout(timer);
  return verified;
}

function describeVerified({ code, seconds, output }: Sized["verified"]): string {
  const end = code === null ? "was stopped" : `ended with ${code}`;
  return `purser verify --usage ${end} after ${seconds.toFixed(1)} s. ${output.replaceAll("\n", " ")}`;
}

async function refuseSmallDisk(events: number): Promise<void> {
  const { bavail, bsize } = await statfs(tmpdir());
  const needed = events * BYTES_PER_EVENT + WAL_BYTES;
  if (bavail * bsize < needed)
    throw new Error(`${tmpdir()} has less free space than the ${(needed / 1e9).toFixed(0)} GB this may need`);
}
