import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { checkOut, THIS_TREE } from "../bench/other-tree.ts";
import { open } from "./opening.ts";
import { exportAll, readAll, refuseAll } from "./reading.ts";
import { Recorder, type Section } from "./recorder.ts";
import { Scene } from "./scene.ts";
import { openTrade } from "./trade.ts";
import { openWorld, type World } from "./world.ts";

const HELP = `npm run witness -- --against COMMIT [options]

Makes the same calls through HTTP to this tree, as it lies on disk, and to another commit, each on a fresh PostgreSQL with a
clock that only this program moves. Compares every answer and every row that was left. What is random is compared by the order
of its first appearance. Exit code 0: identical; 1: something differs, a call failed with 5xx, or an operation or a reason was missed.
Needs libfaketime (Debian: apt-get install faketime).

  --against COMMIT  what to compare this tree with
  --calls N         how many calls (2000)
  --seed N          another seed makes other calls (1)
  --except NAME     leaves out a table (cell.grants), a column (cell.grants.note), a text in answers (detail) or a header (etag)
                    that is meant to differ; may be given several times
  --keep DIRECTORY  writes all that was recorded there, as before.txt and now.txt
  --json            the last line is JSON
`;

const SECOND = 1_000;
/** Where the clock is moved to between parts of the trade: one begins 50 ms before the end of a month. */
const MOMENTS = [
  "2027-01-29T23:00:00Z",
  "2027-01-31T23:59:58.950Z",
  "2027-02-02T10:00:00Z",
  "2027-02-08T10:00:00Z",
  "2027-02-20T10:00:00Z",
  "2027-03-03T10:00:00Z",
];
/** From the first to the last day. */
const DAYS = 33;
/** The first run may have begun before the clock was moved. */
const RUNS = 2;
/** So many calls are made besides the trade, after the opening. */
const READING_CALLS = 690;
const REASONS = [
  "customer_blocked",
  "customer_not_found",
  "no_active_plan",
  "feature_not_in_plan",
  "limit_reached",
  "insufficient_credits",
];
const SHOWN_MAX = 5;
const SHOWN_LINES_MAX = 40;

const run = promisify(execFile);

const { values } = parseArgs({
  options: {
    against: { type: "string" },
    calls: { type: "string", default: "2000" },
    seed: { type: "string", default: "1" },
    except: { type: "string", multiple: true, default: [] },
    keep: { type: "string" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

async function main(): Promise<void> {
  const { against } = values;
  if (values.help || against === undefined) {
    console.log(HELP);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  await using stack = new AsyncDisposableStack();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(130)));
  }
  const startMs = performance.now();
  const { directory, commit } = await checkOut(against, stack);
  const [now, before] = await Promise.all([record(THIS_TREE, stack), record(directory, stack)]);
  if (values.keep !== undefined) await keep(values.keep, { before, now });
  const differing = findDifferences(before.sections, now.sections);
  for (const difference of differing.slice(0, SHOWN_MAX)) await show(difference);
  const faults = findFaults(now);
  for (const line of faults) console.error(`FAILED: ${line}`);

  const { calls, sections, coverage } = now;
  const rows = sections.filter(({ title }) => title.startsWith("rows")).flatMap(({ lines }) => lines).length;
  const seconds = Math.round((performance.now() - startMs) / 1_000);
  const verdict = differing.length === 0 ? "identical" : `${differing.length} answers or tables differ`;
  console.log(
    `${verdict}: ${calls} calls of ${coverage.size} operations, ${rows} rows; this tree against ${commit.slice(0, 12)}, ${seconds} s`,
  );
  if (values.except.length > 0) console.log(`left out: ${values.except.join(", ")}`);
  const first = differing.slice(0, SHOWN_MAX).map(titleOf);
  const result = { commit, calls, rows, seconds, differing: differing.length, first, faults };
  if (values.json) console.log(JSON.stringify(result));
  if (differing.length > 0 || faults.length > 0) process.exitCode = 1;
}

/** A run that fails is compared up to there: that it fails in one tree alone is a difference. */
async function record(tree: string, stack: AsyncDisposableStack): Promise<Recorder> {
  const recorder = new Recorder(await openWorld(tree, stack), values.except);
  try {
    await play(recorder);
  } catch (error) {
    if (stack.disposed) throw error;
    recorder.sections.push({ title: `stopped after call ${recorder.calls}`, lines: [String(error)] });
  }
  return recorder;
}

async function play(recorder: Recorder): Promise<void> {
  const { world } = recorder;
  const scene = new Scene(recorder, readCount("seed"));
  await world.awaitJobs(1);
  await open(scene);
  await recorder.recordRows();
  const trade = openTrade(scene);
  await trade.begin();
  const share = Math.max(0, (readCount("calls") - recorder.calls - READING_CALLS) / MOMENTS.length);
  for (const [index, moment] of MOMENTS.entries()) {
    await trade.run(share);
    await moveClock(world, Date.parse(moment));
    if (index % 2 === 1) await recorder.recordRows();
    if (index === 2) await readAll(scene);
  }
  await readAll(scene);
  await exportAll(scene);
  await refuseAll(scene);
  // Each run adds one day to the sums of months.
  await world.awaitJobs(RUNS + DAYS);
  await recorder.recordRows();
}

/** Jobs run by real time. So they finish what was due before the clock is moved, and what is due after it before the next call. */
async function moveClock({ clock, awaitJobs }: World, moment: number): Promise<void> {
  await awaitJobs(RUNS);
  clock.advance(moment - clock.now);
  // A walk over all wallets takes one run more.
  await awaitJobs(RUNS + 1);
  // The sums of usage are made at most every 700 ms, and another job's open transaction may have kept them back.
  clock.advance(SECOND);
  await awaitJobs(RUNS);
}

type Difference = { readonly before: Section | undefined; readonly now: Section | undefined };

const titleOf = ({ before, now }: Difference): string => now?.title ?? before?.title ?? "";

/** By number of call and by table: one table more does not move all that follows. */
function findDifferences(before: readonly Section[], now: readonly Section[]): Difference[] {
  const keyOf = ({ title }: Section): string => title.split(",", 1)[0] ?? "";
  const [theirs, ours] = [before, now].map((all) => new Map(all.map((section) => [keyOf(section), section])));
  const keys = new Set([...now, ...before].map(keyOf));
  const pairs = [...keys].map((key) => ({ before: theirs?.get(key), now: ours?.get(key) }));
  return pairs.filter((pair) => textOf(pair.before) !== textOf(pair.now));
}

const textOf = (section: Section | undefined): string =>
  section === undefined ? "" : `${section.title}\n${section.lines.join("\n")}\n`;

async function show({ before, now }: Difference): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "purser-witness-"));
  await writeFile(join(directory, "before"), textOf(before));
  await writeFile(join(directory, "now"), textOf(now));
  const words = '--word-diff-regex=[^[:space:]",:{}]+';
  const args = ["diff", "--no-index", "--unified=1", "--word-diff=plain", words, "before", "now"];
  // Differing files make it end with code 1.
  const compared: Promise<{ stdout: string }> = run("git", args, { cwd: directory });
  const { stdout } = await compared.catch((difference) => difference);
  await rm(directory, { recursive: true });
  const lines = stdout.split("\n").slice(4);
  console.log(`\n${titleOf({ before, now })}`);
  console.log(lines.slice(0, SHOWN_LINES_MAX).join("\n"));
  if (lines.length > SHOWN_LINES_MAX) console.log(`… and ${lines.length - SHOWN_LINES_MAX} lines more`);
}

async function keep(directory: string, recorders: Readonly<Record<string, Recorder>>): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, { sections }] of Object.entries(recorders))
    await writeFile(join(directory, `${name}.txt`), sections.map(textOf).join("\n"));
}

function findFaults({ coverage, reasons, faults }: Recorder): string[] {
  return [
    ...faults,
    ...[...coverage].flatMap(([id, { succeeded, refused }]) => [
      ...(succeeded === 0 ? [`${id} never succeeded`] : []),
      ...(refused === 0 ? [`${id} was never refused`] : []),
    ]),
    ...REASONS.filter((reason) => !reasons.has(reason)).map(
      (reason) => `no consume was denied for ${reason}`,
    ),
  ];
}

function readCount(name: "calls" | "seed"): number {
  const count = Number(values[name]);
  if (!Number.isInteger(count) || count < 1) throw new Error(`--${name} takes a number, not ${values[name]}`);
  return count;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
