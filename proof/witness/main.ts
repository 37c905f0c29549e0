import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { runProof } from "../harness/command.ts";
import { checkOut } from "../harness/other-tree.ts";
import { THIS_TREE } from "../harness/purser.ts";
import { callInvalidly, exportAll, readAll } from "./reading.ts";
import { Recorder, type Section } from "./recorder.ts";
import { Scene } from "./scene.ts";
import { setUp } from "./set-up.ts";
import { openTraffic } from "./traffic.ts";
import { openWorld, type World } from "./world.ts";

const SECOND = 1_000;
/** Times to which the clock is moved between rounds of calls. One is 50 ms before the end of a second, minute and month. */
const MOMENTS = [
  "2027-01-29T23:00:00Z",
  "2027-01-31T23:59:58.950Z",
  "2027-02-02T10:00:00Z",
  "2027-02-08T10:00:00Z",
  "2027-02-20T10:00:00Z",
  "2027-03-03T10:00:00Z",
];
/** Each job must run twice, because the first run may have started before the clock was moved. */
const RUNS = 2;
/** Number of calls after the setup that read or are invalid. The remaining calls are everyday calls. */
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

type Calls = { readonly calls: number; readonly seed: number; readonly except: readonly string[] };

await runProof(
  {
    command: "npm run witness -- --against COMMIT",
    about: `Makes the same HTTP calls to this working tree and to another commit, each with a new PostgreSQL and a clock that only this
program moves. Compares every response and every row. Random values are compared by the order of their first appearance.
Exit code 0: identical; 1: something differs, a call got a 5xx, or an operation or denial reason was not covered.
Needs libfaketime (Debian: apt-get install faketime).`,
    options: {
      against: { default: null, takes: "COMMIT", help: "the commit to compare with" },
      calls: { default: 2_000, help: "number of calls" },
      seed: { default: 1, help: "seed for choosing the calls" },
      except: {
        default: [],
        takes: "NAME",
        help: "ignore a table (cell.grants), a column (cell.grants.note), a text field of responses (detail) or a header (etag). Can be repeated",
      },
      keep: {
        default: null,
        takes: "DIRECTORY",
        help: "write everything recorded to before.txt and now.txt in this directory",
      },
    },
  },
  async ({ options, stack }) => {
    if (options.against === null) throw new Error("--against is required");
    const startMs = performance.now();
    const { directory, commit } = await checkOut(options.against, stack);
    const [now, before] = await Promise.all([
      record(THIS_TREE, options, stack),
      record(directory, options, stack),
    ]);
    if (options.keep !== null) await keep(options.keep, { before, now });
    const differing = findDifferences(before.sections, now.sections);
    for (const difference of differing.slice(0, SHOWN_MAX)) await show(difference);
    const faults = findFaults(now);
    const { calls, sections, coverage } = now;
    const rows = sections
      .filter(({ title }) => title.startsWith("rows"))
      .flatMap(({ lines }) => lines).length;
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    const verdict = differing.length === 0 ? "identical" : `${differing.length} responses or tables differ`;
    console.log(
      `${verdict}: ${calls} calls to ${coverage.size} operations, ${rows} rows; this tree against ${commit.slice(0, 12)}, ${seconds} s`,
    );
    if (options.except.length > 0) console.log(`ignored: ${options.except.join(", ")}`);
    const first = differing.slice(0, SHOWN_MAX).map(titleOf);
    return {
      faults,
      figures: { commit, calls, rows, seconds, differing: differing.length, first, faults },
      exitCode: differing.length > 0 || faults.length > 0 ? 1 : 0,
    };
  },
);

/** A failed run is compared up to the failure. If only one tree fails, that is a difference. */
async function record(tree: string, calls: Calls, stack: AsyncDisposableStack): Promise<Recorder> {
  const recorder = new Recorder(await openWorld(tree, stack), calls.except);
  try {
    await play(recorder, calls);
  } catch (error) {
    if (stack.disposed) throw error;
    recorder.sections.push({ title: `stopped after call ${recorder.calls}`, lines: [String(error)] });
  }
  return recorder;
}

async function play(recorder: Recorder, { calls, seed }: Calls): Promise<void> {
  const { world } = recorder;
  const scene = new Scene(recorder, seed);
  await world.awaitJobs(1);
  await setUp(scene);
  await recorder.recordRows();
  const traffic = openTraffic(scene);
  await traffic.begin();
  const share = Math.max(0, (calls - recorder.calls - READING_CALLS) / MOMENTS.length);
  for (const [index, moment] of MOMENTS.entries()) {
    await traffic.run(share);
    await moveClock(world, Date.parse(moment));
    if (index % 2 === 1) await recorder.recordRows();
    if (index === 2) await readAll(scene);
  }
  await readAll(scene);
  await exportAll(scene);
  await callInvalidly(scene);
  await world.awaitJobs(RUNS);
  await recorder.recordRows();
}

/** Moves the clock. Jobs run in real time, so this waits for their work before and after the move. */
async function moveClock({ clock, awaitJobs }: World, moment: number): Promise<void> {
  await awaitJobs(RUNS);
  clock.advance(moment - clock.now);
  // A sweep over all wallets takes one more run.
  await awaitJobs(RUNS + 1);
  // Usage is rolled up at most every 700 ms, and an open transaction of another job can delay it.
  clock.advance(SECOND);
  await awaitJobs(RUNS);
}

type Difference = { readonly before: Section | undefined; readonly now: Section | undefined };

function titleOf({ before, now }: Difference): string {
  return now?.title ?? before?.title ?? "";
}

/** Matches sections by call number and table name, so that an additional table does not affect the others. */
function findDifferences(before: readonly Section[], now: readonly Section[]): Difference[] {
  const keyOf = ({ title }: Section): string => title.split(",", 1)[0] ?? "";
  const [theirs, ours] = [before, now].map((all) => new Map(all.map((section) => [keyOf(section), section])));
  const keys = new Set([...now, ...before].map(keyOf));
  const pairs = [...keys].map((key) => ({ before: theirs?.get(key), now: ours?.get(key) }));
  return pairs.filter((pair) => textOf(pair.before) !== textOf(pair.now));
}

function textOf(section: Section | undefined): string {
  return section === undefined ? "" : `${section.title}\n${section.lines.join("\n")}\n`;
}

async function show({ before, now }: Difference): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "purser-witness-"));
  await writeFile(join(directory, "before"), textOf(before));
  await writeFile(join(directory, "now"), textOf(now));
  const words = '--word-diff-regex=[^[:space:]",:{}]+';
  const args = ["diff", "--no-index", "--unified=1", "--word-diff=plain", words, "before", "now"];
  // Exits with code 1 if the files differ.
  const compared: Promise<{ stdout: string }> = run("git", args, { cwd: directory });
  const { stdout } = await compared.catch((difference) => difference);
  await rm(directory, { recursive: true });
  const lines = stdout.split("\n").slice(4);
  console.log(`\n${titleOf({ before, now })}`);
  console.log(lines.slice(0, SHOWN_LINES_MAX).join("\n"));
  if (lines.length > SHOWN_LINES_MAX) console.log(`… and ${lines.length - SHOWN_LINES_MAX} more lines`);
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
      ...(refused === 0 ? [`${id} was never rejected`] : []),
    ]),
    ...REASONS.filter((reason) => !reasons.has(reason)).map(
      (reason) => `no consume was denied for ${reason}`,
    ),
  ];
}
