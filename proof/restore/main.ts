import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { grantToService } from "../../service/src/postgres/privileges.ts";
import { CATALOG } from "../faults/catalog.ts";
import { findDecision } from "../faults/check/answers.ts";
import { checkHistory } from "../faults/check/check-history.ts";
import { Client } from "../faults/client.ts";
import { type Call, History } from "../faults/history.ts";
import { Load } from "../faults/load.ts";
import { Operator } from "../faults/operator.ts";
import { readStored } from "../faults/read-stored.ts";
import { runProof } from "../harness/command.ts";
import { countRows, databaseAt, withClient } from "../harness/database.ts";
import { count, megabytes, rounded } from "../harness/figures.ts";
import { fillCustomers, makeHotCustomer } from "../harness/fill-customers.ts";
import { openProject, type Project } from "../harness/project.ts";
import { runPurser, Service, startVerify } from "../harness/purser.ts";
import {
  awaitRollUps,
  chooseMoment,
  cutHistory,
  exportSnapshot,
  type Moment,
  readTotals,
  sampleMoments,
  type Totals,
  totalsOf,
} from "./moment.ts";
import { ArchivedServer, databaseBytes, runTool, startServer } from "./pgbackrest.ts";

const SERVICE_ROLE = "purser_service";
const DATABASE = "purser";
const ENTRIES_OF_A_CUSTOMER = 9;
const CUSTOMERS_MAX = 100_000;
const HOT_ENTRIES_MAX = 100_000;
const ROLL_UP_SECONDS_MAX = 3_600;
const REPEATED_MAX = 50;
const SHOWN_MAX = 5;
const JOBS = "2";

await runProof(
  {
    command: "npm run restore-proof",
    about: `Backs up PostgreSQL 15 with pgBackRest while charges run, and restores it to a point in time. Also dumps the server with pg_dump
and loads the dump into another server. Each copy must have exactly the rows committed by its point in time: no earlier acknowledged charge
is missing, and no later charge is included. purser migrate, verify and verify --usage must pass. Then a service runs on the copy, and
repeated requests return their stored responses. Needs Debian's postgresql-15 and pgbackrest.`,
    options: {
      entries: { default: 100_000, min: 1_000, help: "ledger entries before the load" },
      seconds: { default: 10, help: "seconds of load between the backup and the dump" },
    },
  },
  async ({ options: { entries, seconds }, stack }) => {
    const historyFile = join(tmpdir(), `purser-restore-history-${process.pid}.jsonl`);
    const history = new History(historyFile);
    const archived = await ArchivedServer.start(stack);
    const url = archived.server.url(DATABASE);
    const project = await prepare(archived, entries, stack);
    const { figures, moment, dump } = await runUnderLoad({ archived, project, history, seconds, stack });
    const atEnd = await totalsOf(url);

    console.log(`restoring to ${moment.at}`);
    const expected = await totalsOf(url, moment.at);
    const restoreSeconds = startClock();
    const restored = await archived.restoreTo(moment.at, stack);
    figures["restore_seconds"] = restoreSeconds("restored");
    const checks = { project, history, stack };
    const ofBackup = await checkCopy(restored.url(DATABASE), { ...checks, name: "backup", moment, expected });

    console.log(`loading the dump of ${dump.moment.at}`);
    const other = await startServer(stack);
    await databaseAt(other.url("postgres")).query(`create role ${SERVICE_ROLE} login`);
    await databaseAt(other.url("postgres")).query(`create database ${DATABASE}`);
    const loadSeconds = startClock();
    await runTool("pg_restore", ["--exit-on-error", "-j", JOBS, "-d", other.url(DATABASE), dump.directory]);
    figures["load_seconds"] = loadSeconds("loaded");
    const ofDump = await checkCopy(other.url(DATABASE), { ...checks, name: "dump", ...dump });

    const isSame = (totals: Totals): boolean => JSON.stringify(totals) === JSON.stringify(atEnd);
    const faults = [
      ...ofBackup.faults,
      ...ofDump.faults,
      ...(isSame(expected) || isSame(dump.expected)
        ? ["nothing was written after the point in time of a copy"]
        : []),
    ];
    await history.close();
    if (faults.length === 0) await rm(historyFile);
    return { faults, figures: { ...figures, ...ofBackup.figures, ...ofDump.figures } };
  },
);

/** Creates a project for the load, and a second project with a long history, which makes the database large. */
async function prepare(
  { server }: ArchivedServer,
  entries: number,
  stack: AsyncDisposableStack,
): Promise<Project> {
  await databaseAt(server.url("postgres")).query(`create role ${SERVICE_ROLE} login`);
  await databaseAt(server.url("postgres")).query(`create database ${DATABASE}`);
  const url = server.url(DATABASE);
  const filled = await openProject(url);
  const project = await openProject(url, CATALOG);
  await withClient(url, (client) => grantToService(client, SERVICE_ROLE, { endsKeys: false }));
  const service = await Service.start(serviceUrl(url), stack, { name: "fill" });
  const installation = { database: databaseAt(url), project: filled, service };
  const customers = Math.min(CUSTOMERS_MAX, Math.ceil(entries / 2 / ENTRIES_OF_A_CUSTOMER));
  await fillCustomers(installation, "limited", customers);
  let left = entries - customers * ENTRIES_OF_A_CUSTOMER;
  for (let hot = 1; left > ENTRIES_OF_A_CUSTOMER; hot++, left -= HOT_ENTRIES_MAX) {
    const customerId = `customer_hot_${hot}`;
    await makeHotCustomer(installation, {
      ...{ customerId, plan: "limited", entries: Math.min(left, HOT_ENTRIES_MAX) },
    });
  }
  await awaitRollUps(url, ROLL_UP_SECONDS_MAX);
  await service.stop();
  return project;
}

type Dump = { readonly directory: string; readonly moment: Moment; readonly expected: Totals };

/** Backs up, waits and dumps while two services charge customers. Returns when the whole write-ahead log is archived. */
async function runUnderLoad(run: {
  readonly archived: ArchivedServer;
  readonly project: Project;
  readonly history: History;
  readonly seconds: number;
  readonly stack: AsyncDisposableStack;
}): Promise<{ figures: Record<string, number>; moment: Moment; dump: Dump }> {
  const { archived, project, history, stack } = run;
  const url = archived.server.url(DATABASE);
  const operator = new Operator(serviceUrl(url), project.context, history);
  await operator.createCustomers();
  const start = (name: string) => Service.start(serviceUrl(url), stack, { name });
  const services = [await start("a"), await start("b")];
  const load = new Load({ services, secret: project.apiKey }, history);
  stack.defer(() => load.stop());
  stack.defer(() => operator.stop());
  operator.start();

  const backupSeconds = startClock();
  await archived.backUp();
  const figures: Record<string, number> = { backup_seconds: backupSeconds("backed up") };
  const moments = await sampleMoments(url, run.seconds);
  const directory = join(tmpdir(), `purser-dump-${process.pid}`);
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const dump = await withClient(url, async (client): Promise<Dump> => {
    const { snapshot, ...moment } = await exportSnapshot(client);
    const dumpSeconds = startClock();
    await runTool("pg_dump", ["-Fd", "-j", JOBS, `--snapshot=${snapshot}`, "-f", directory, url]);
    figures["dump_seconds"] = dumpSeconds("dumped");
    const expected = await readTotals((statement, values) => client.query(statement, values));
    return { directory, moment, expected };
  });
  await load.stop();
  await operator.stop();
  for (const service of services) await service.stop();
  await archived.archiveAll();
  figures["ledger_entries"] = await countRows(databaseAt(url), "cell.ledger");
  figures["database_mb"] = rounded((await databaseBytes(url)) / 1e6);
  figures["backup_mb"] = rounded((await archived.backupBytes()) / 1e6);
  console.log(
    `${count(figures["ledger_entries"])} ledger entries, database ${megabytes(figures["database_mb"])}; calls: ${count(history.calls.length)}`,
  );
  return { figures, moment: await chooseMoment(databaseAt(url), moments), dump };
}

type Copy = {
  readonly project: Project;
  readonly name: "backup" | "dump";
  readonly moment: Moment;
  readonly expected: Totals;
  readonly history: History;
  readonly stack: AsyncDisposableStack;
};

/** Compares a copy with its source and the clients' history, verifies it, and runs a service on it. */
async function checkCopy(url: string, copy: Copy): Promise<{ faults: string[]; figures: object }> {
  const { name, moment, expected, history, project } = copy;
  const faults: string[] = [];
  const found = await totalsOf(url);
  for (const [what, value] of Object.entries(expected))
    if (found[what] !== value) faults.push(`${name}: ${what} is ${found[what]}, but should be ${value}`);
  const migrated = await runPurser(["migrate", "--grant-to", SERVICE_ROLE], url);
  if (migrated.code !== 0) faults.push(`${name}: purser migrate: ${migrated.output}`);
  const verified = await startVerify(url).ended;
  const usage = await startVerify(url, ["--usage"]).ended;
  console.log(`${migrated.output}\n${verified.output}\n${usage.output}`);
  if (verified.code !== 0) faults.push(`${name}: purser verify: ${verified.output}`);
  if (usage.code !== 0) faults.push(`${name}: purser verify --usage: ${usage.output}`);
  const stored = await readStored(url, project.context.environmentId);
  const { violations, doubts, counts } = checkHistory(cutHistory(history, moment), stored);
  faults.push(...violations.slice(0, SHOWN_MAX).map(({ text }) => `${name}: ${text}`));
  if (violations.length > SHOWN_MAX) faults.push(`${name}: ${violations.length - SHOWN_MAX} more violations`);
  faults.push(...doubts.map((doubt) => `${name}: ${doubt}`));
  faults.push(...(await serveFrom(url, copy)).map((fault) => `${name}: ${fault}`));
  const { charge, event, denial } = counts;
  console.log(
    `${name}: ${charge.acknowledged} charges, ${denial.acknowledged} denials and ${event.acknowledged} events were acknowledged; ${charge.stored}, ${denial.stored} and ${event.stored} are stored`,
  );
  const figures = {
    [`${name}_charges_acknowledged`]: charge.acknowledged,
    [`${name}_charges_stored`]: charge.stored,
    [`${name}_verify_seconds`]: rounded(verified.seconds),
    [`${name}_verify_usage_seconds`]: rounded(usage.seconds),
  };
  return { faults, figures };
}

/** Repeats requests on a service that runs on the copy, waits for its roll-ups, and verifies again. */
async function serveFrom(url: string, { name, moment, history, project, stack }: Copy): Promise<string[]> {
  const service = await Service.start(serviceUrl(url), stack, { name });
  const repeats = new History("/dev/null");
  const client = new Client("repeat", { services: [service], secret: project.apiKey }, repeats);
  const consumes = history.calls.filter(({ request }) => request.endpoint === "consume");
  const allowed = [...Map.groupBy(consumes, ({ request }) => request.key).values()]
    .flatMap((calls) => calls.toSorted((a, b) => a.startMs - b.startMs).slice(0, 1))
    .filter((call) => findDecision(call)?.allowed === true);
  const earlier = allowed.filter(({ endMs }) => endMs <= moment.beforeMs).slice(-REPEATED_MAX);
  const later = allowed.filter(({ startMs }) => startMs >= moment.afterMs).slice(0, REPEATED_MAX);
  const faults = earlier.length === 0 || later.length === 0 ? ["there is no request to repeat"] : [];
  for (const call of [...earlier, ...later]) {
    const { outcome } = await client.send(call.request);
    const isStored = outcome.kind === "ok" && outcome.isReplay && outcome.body === bodyOf(call);
    const isNew = outcome.kind === "ok" && !outcome.isReplay;
    if (earlier.includes(call) ? isStored : isNew) continue;
    faults.push(`${JSON.stringify(call)}, repeated: ${JSON.stringify(outcome)}`);
  }
  client.close();
  await repeats.close();
  await awaitRollUps(url, ROLL_UP_SECONDS_MAX);
  if (!(await service.stop())) faults.push(`the service did not stop: ${service.lastOutput}`);
  for (const options of [[], ["--usage"]]) {
    const { code, output } = await startVerify(url, options).ended;
    if (code !== 0) faults.push(`purser verify ${options.join(" ")} after charges: ${output}`);
  }
  return faults;
}

function bodyOf({ outcome }: Call): string | null {
  return outcome.kind === "ok" ? outcome.body : null;
}

function serviceUrl(url: string): string {
  return url.replace("//postgres@", `//${SERVICE_ROLE}@`);
}

/** Returns a function that prints and returns the seconds since now. */
function startClock(): (done: string) => number {
  const startMs = performance.now();
  return (done) => {
    const seconds = rounded((performance.now() - startMs) / 1_000);
    console.log(`${done} in ${seconds} s`);
    return seconds;
  };
}
