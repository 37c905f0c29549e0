import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { rate } from "../bench/figures.ts";
import { DATABASE, openProofServer, type ProofServer } from "../manage/server.ts";
import { Service } from "../manage/service.ts";
import { openShop } from "../manage/shop.ts";
import { startVerify } from "../verify/run-verify.ts";
import { type Asked, type Asker, ask, findCursors } from "./ask.ts";
import { checkAnswers } from "./check-answers.ts";
import { prepare } from "./fill.ts";
import { loadEvents } from "./load.ts";
import { questionsAbout } from "./questions.ts";
import { count, findFaults, printTable, type Sized, summarize } from "./report.ts";
import { openWorld, type World } from "./world.ts";

const HELP = `npm run scale-proof -- [options]

Loads 5 million events of 13 months into a database, lets the service add them up, and times every question about usage
through HTTP, each time about something else; then the same with 50 million in another one. Fails when one of them breaks its bound
at p95: 300 ms for usage of a project by day over 90 days, 50 ms for one customer's month, 100 ms for any page of events; or when
an answer is wrong. Then has \`purser verify --usage\` prove the sums. 50 million take some 30 GB of disk, which are given back.

  --events N,N   how many there are each time, in rising numbers (5000000,50000000)
  --customers N  whose (100000)
  --calls N      of each question; those that take long are asked less often (100)
  --verify-s N   after so many seconds the proof of the sums is stopped (600)
  --slack N      bounds so many times as wide, on a machine that does much else (1)
  --json         the last line is JSON
`;

/** A quarter of a small machine's memory, and checkpoints as far apart as on a server that is written to a lot. */
const SETTINGS = [
  "shared_buffers=2GB",
  "max_wal_size=6GB",
  "checkpoint_timeout=15min",
  "wal_compression=on",
  "maintenance_work_mem=256MB",
];
/**
 * What autovacuum does over months for rows that came over months; else it does so now, beside the questions. Not the small
 * tables, which it passes by as long as they have few rows: questions must be fast without their statistics.
 */
const VACUUMED = [
  "cell.events",
  "cell.ledger",
  "cell.usage_quarters",
  "cell.usage_customer_quarters",
  "cell.usage_customer_months",
  "cell.usage_customer_slots",
];
const BYTES_PER_EVENT = 600;
const WAL_BYTES = 8 * 2 ** 30;
const CURSORS = 50;

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "5000000,50000000" },
    customers: { type: "string", default: "100000" },
    calls: { type: "string", default: "100" },
    "verify-s": { type: "string", default: "600" },
    slack: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

/** The server and its files are gone before the process is. */
let ending: Promise<void> | null = null;

async function main(): Promise<void> {
  if (values.help) return console.log(HELP);
  const sizes = readSizes();
  const calls = readCount("calls", values.calls);
  await refuseSmallDisk(sizes.at(-1) ?? 0);
  await using stack = new AsyncDisposableStack();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      ending ??= stack.disposeAsync();
    });
  }
  const world = openWorld(readCount("customers", values.customers));
  const sized: Sized[] = [];
  for (const events of sizes) sized.push(await measure(events, { world, calls, stack }));
  const slack = Number(values.slack);
  const questions = questionsAbout(world, []);
  printTable(questions, sized);
  const faults = findFaults(questions, sized, slack);
  for (const fault of faults) console.error(`FAILED: ${fault}`);
  if (values.json) console.log(JSON.stringify(summarize(world.customers, sized)));
  if (faults.length > 0) process.exitCode = 1;
}

/** In an installation of its own: history that came twice over the same months would lie scattered as none in use does. */
async function measure(
  events: number,
  { world, calls, stack }: { world: World; calls: number; stack: AsyncDisposableStack },
): Promise<Sized> {
  await using own = stack.use(new AsyncDisposableStack());
  const server = await openProofServer(own, SETTINGS);
  const shop = await openShop(server);
  await prepare(server, shop, world);
  const service = await Service.start(server.databaseUrl, own);
  const loaded = await loadEvents(server, shop, world, events);
  await server.query(DATABASE, `vacuum (analyze) ${VACUUMED.join(", ")}`);
  await server.query(DATABASE, "checkpoint");
  const bytes = await readSize(server);
  console.log(
    `${count(events)} events of ${count(world.customers)} customers, ${(bytes / 1e9).toFixed(1)} GB: loaded in ` +
      `${loaded.loadSeconds.toFixed(1)} s while they were added up, all in the sums ${loaded.catchUpSeconds.toFixed(1)} s later ` +
      `(${rate(loaded.catchUpPerSecond)} then, ${rate(loaded.perSecond)} with the loading)`,
  );
  const asker = { service, shop };
  await checkAnswers(server, asker, world, events);
  const asked = await askAll(asker, world, calls);
  const verified = await verifySums(server.databaseUrl);
  console.log(describeVerified(verified));
  return { events, bytes, loaded, asked, verified };
}

async function askAll(asker: Asker, world: World, calls: number): Promise<Map<string, Asked>> {
  const cursors = await findCursors(asker, world, CURSORS);
  const asked = new Map<string, Asked>();
  for (const question of questionsAbout(world, cursors))
    asked.set(question.name, await ask(asker, question, calls));
  return asked;
}

async function verifySums(databaseUrl: string): Promise<Sized["verified"]> {
  const verification = startVerify(databaseUrl, ["--usage"]);
  const timer = setTimeout(() => verification.stop(), 1_000 * readCount("verify-s", values["verify-s"]));
  const { code, seconds, output } = await verification.ended;
  clearTimeout(timer);
  return { code, seconds, output: output.trim() };
}

function describeVerified({ code, seconds, output }: Sized["verified"]): string {
  const end = code === null ? "was stopped" : `ended with ${code}`;
  return `purser verify --usage ${end} after ${seconds.toFixed(1)} s. ${output.replaceAll("\n", " ")}`;
}

async function readSize(server: ProofServer): Promise<number> {
  const [row = {}] = await server.query(DATABASE, `select pg_database_size('${DATABASE}') as bytes`);
  return Number(row["bytes"]);
}

async function refuseSmallDisk(events: number): Promise<void> {
  const { bavail, bsize } = await statfs(tmpdir());
  const needed = events * BYTES_PER_EVENT + WAL_BYTES;
  if (bavail * bsize < needed)
    throw new Error(`${tmpdir()} has less room than the ${(needed / 1e9).toFixed(0)} GB this may take`);
}

function readSizes(): number[] {
  const sizes = values.events.split(",").map((text) => readCount("events", text));
  if (sizes.some((size, index) => size <= (sizes[index - 1] ?? 0)))
    throw new Error(`--events takes rising numbers, not ${values.events}`);
  return sizes;
}

function readCount(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${name} takes a number, not ${text}`);
  return number;
}

await main().catch(async (error: unknown) => {
  // Whatever failed because of it.
  if (ending === null) throw error;
  await ending;
  process.exitCode = 130;
});
