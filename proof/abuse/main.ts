import { Caller, type Sent } from "../harness/caller.ts";
import { runProof } from "../harness/command.ts";
import { median, ms, rounded } from "../harness/figures.ts";
import { CALLS, FEATURE } from "../harness/load/calls.ts";
import { type OpenLoopResult, runOpenLoop } from "../harness/load/open-loop.ts";
import { PostgresServer } from "../harness/postgres.ts";
import { openProject } from "../harness/project.ts";
import { Service } from "../harness/purser.ts";
import { type Statuses, startAttack } from "./attacker.ts";
import { floodWithForgedSecrets, floodWithGarbage, floodWithSlowSockets } from "./floods.ts";
import { worstRequests } from "./worst-bodies.ts";

/** Of the heap that a busy service grows into by itself, beyond what the first flood left. */
const GROWTH_MEGABYTES_MAX = 64;

await runProof(
  {
    command: "npm run abuse",
    about: `Measures /v1/check without and beside strangers who send the most expensive bodies there are, in turns. Then floods the
service with forged keys, tokens and sessions, with slow sockets and with what is not HTTP, while real callers go on. Fails
when checks become more than three times as slow, when a real caller gets a 5xx, or when memory grows. Needs Linux.`,
    options: {
      rounds: { default: 7, help: "turns of each side" },
      seconds: { default: 5, help: "length of each turn" },
      rate: { default: 200, help: "checks a second" },
      connections: { default: 64, help: "of strangers who send the worst bodies" },
      addresses: { default: 1, help: "from which they come" },
      forged: { default: 12_000, help: "forged secrets" },
      slow: { default: 2_000, help: "slow sockets" },
      malformed: { default: 2_000, help: "connections that send no HTTP" },
      slowdown: { default: 3, help: "how many times slower checks may become" },
    },
  },
  async ({ options, stack }) => {
    const server = await PostgresServer.start(stack);
    const database = await server.createDatabase("purser");
    const project = await openProject(database.url);
    const service = await Service.start(database.url, stack);
    const { url } = service;
    const check = (seconds: number): Promise<OpenLoopResult> =>
      runOpenLoop({
        url,
        apiKey: project.apiKey,
        // Denied ones count too.
        call: { ...CALLS.check, proof: '"allowed":' },
        customers: 1_000,
        perSecond: options.rate,
        warmUpSeconds: 1,
        seconds,
        connections: 16,
        keyPrefix: "",
      });
    const { quietP99Ms, abusedP99Ms, answers, failed } = await measureWorstBodies({ ...options, url, check });
    const slowdown = abusedP99Ms / quietP99Ms;
    console.log(
      `checks alone: p99 ${ms(quietP99Ms)}; beside the worst bodies: ${ms(abusedP99Ms)}, ${slowdown.toFixed(2)} times`,
    );
    console.log(`  strangers were answered with ${JSON.stringify(answers)}`);

    const faults: string[] = [];
    if (slowdown > options.slowdown) faults.push(`checks become ${slowdown.toFixed(2)} times slower`);
    if (failed > 0) faults.push(`${failed} checks failed beside the worst bodies`);
    const floods = {
      forged: () => floodWithForgedSecrets(url, options.forged),
      slow: () => floodWithSlowSockets(url, options.slow),
      malformed: () => floodWithGarbage(url, options.malformed),
    };
    // The first of each lets the heap grow to where it stays.
    const memory: number[] = [];
    for (const name of ["forged", "slow", "malformed", "forged", "slow", "malformed"] as const) {
      const outcome = await besideRealCallers(new Caller(service, project), floods[name]);
      memory.push(await service.residentMegabytes());
      console.log(`${name}: ${JSON.stringify(outcome)}, ${memory.at(-1)?.toFixed(0)} MB resident`);
      if (outcome.errors > 0) faults.push(`${outcome.errors} real calls failed beside the flood ${name}`);
      if (Object.keys(outcome.answers).some((status) => status.startsWith("5")))
        faults.push(`strangers of the flood ${name} were answered with ${JSON.stringify(outcome.answers)}`);
    }
    const growth = Math.max(...memory.slice(3)) - Math.max(...memory.slice(0, 3));
    if (growth > GROWTH_MEGABYTES_MAX) faults.push(`memory grew by ${growth.toFixed(0)} MB`);
    const figures = {
      check_p99_ms: rounded(quietP99Ms),
      check_p99_abused_ms: rounded(abusedP99Ms),
      slowdown: rounded(slowdown),
      resident_mb: memory.map(rounded),
    };
    return { faults, figures };
  },
);

type WorstBodies = {
  readonly url: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly addresses: number;
  readonly check: (seconds: number) => Promise<OpenLoopResult>;
};

async function measureWorstBodies({ url, rounds, seconds, connections, addresses, check }: WorstBodies) {
  const requests = worstRequests();
  const quiet: number[] = [];
  const abused: number[] = [];
  const answers: Statuses = {};
  let failed = 0;
  await check(2);
  for (let round = 0; round < rounds; round++) {
    const alone = await check(seconds);
    quiet.push(alone.p99Ms);
    let sent = 0;
    const attack = startAttack({
      url,
      connections,
      addresses,
      next: () => requests[sent++ % requests.length] ?? "",
    });
    const beside = await check(seconds);
    for (const [status, count] of Object.entries(await attack.stop()))
      answers[status] = (answers[status] ?? 0) + count;
    abused.push(beside.p99Ms);
    console.log(`round ${round + 1}: ${describe(alone)} alone, ${describe(beside)} beside the worst bodies`);
    // A machine that cannot carry the checks alone proves nothing.
    if (beside.errors > alone.errors) failed += beside.errors - alone.errors;
  }
  return { quietP99Ms: median(quiet), abusedP99Ms: median(abused), answers, failed };
}

function describe({ p99Ms, errors }: OpenLoopResult): string {
  return `p99 ${ms(p99Ms)}${errors === 0 ? "" : ` and ${errors} errors`}`;
}

/** Real callers while a flood lasts: a backend, a person, and an API key that nobody has used before. */
async function besideRealCallers(caller: Caller, flood: () => Promise<Statuses>) {
  const body = { customerId: "customer_1", feature: FEATURE };
  let isOver = false;
  let calls = 0;
  let errors = 0;
  const call = async (method: string, path: string, sent: Sent = {}): Promise<Record<string, unknown>> => {
    calls += 1;
    try {
      return JSON.parse((await caller.call(method, path, sent)).text);
    } catch (error) {
      errors += 1;
      console.error(String(error));
      return {};
    }
  };
  const asBackend = async (): Promise<void> => {
    while (!isOver) await call("POST", "/v1/check", { body });
  };
  const asPerson = async (): Promise<void> => {
    while (!isOver) {
      const { secret } = await call("POST", "api-keys", { body: { name: "New", scopes: ["check"] } });
      if (typeof secret === "string") await call("POST", "/v1/check", { body, secret });
      await call("GET", "/manage/v1/session");
    }
  };
  const real = Promise.all([asBackend(), asBackend(), asPerson()]);
  const answers = await flood();
  isOver = true;
  await real;
  return { calls, errors, answers };
}
