import { Caller, type Sent } from "../harness/caller.ts";
import { ANY_CHECK, FEATURE } from "../harness/calls.ts";
import { runProof } from "../harness/command.ts";
import { findExceeded, median, megabytes, ms, rounded } from "../harness/figures.ts";
import { startLoop } from "../harness/loop.ts";
import { measureBeside, type OpenLoopResult, runOpenLoop } from "../harness/open-loop.ts";
import { openInstallation } from "../harness/project.ts";
import { Service } from "../harness/purser.ts";
import {
  floodWithForgedSecrets,
  floodWithGarbage,
  floodWithSlowSockets,
  type Statuses,
  startAttack,
  worstRequests,
} from "./attacker.ts";

/** Memory growth allowed after the first flood of each kind. The heap of a busy service always grows a little. */
const GROWTH_MEGABYTES_MAX = 64;

await runProof(
  {
    command: "npm run abuse",
    about: `Measures /v1/check alternately alone and while attackers send the most expensive bodies possible. Then floods the service with
forged keys, tokens and sessions, with slow sockets, and with bytes that are not HTTP, while real callers continue. Needs Linux.
Fails if checks become more than three times slower, if a real caller gets a 5xx, or if memory grows.`,
    options: {
      rounds: { default: 7, help: "pairs of measurements: alone, then under attack" },
      seconds: { default: 5, help: "length of each measurement" },
      rate: { default: 200, help: "checks per second" },
      connections: { default: 64, help: "attacker connections that send expensive bodies" },
      addresses: { default: 1, help: "source addresses of these connections" },
      forged: { default: 12_000, help: "forged secrets" },
      slow: { default: 2_000, help: "slow sockets" },
      malformed: { default: 2_000, help: "connections that do not send HTTP" },
      slowdown: { default: 3, help: "maximum ratio of p99 under attack to p99 alone" },
    },
  },
  async ({ options, stack }) => {
    const { database, project } = await openInstallation(stack);
    const service = await Service.start(database.url, stack);
    const { url } = service;
    const check = async (seconds: number): Promise<OpenLoopResult> => {
      const result = await runOpenLoop({
        ...{ url, apiKey: project.apiKey, call: ANY_CHECK, customers: 1_000, connections: 16 },
        ...{ perSecond: options.rate, warmUpSeconds: 1, seconds },
      });
      console.log(`  p99 ${ms(result.p99Ms)}, ${result.errors} errors`);
      return result;
    };
    const requests = worstRequests();
    const answers: Statuses = {};
    console.log("checks, alternately alone and under attack:");
    await check(2);
    const { alone, beside } = await measureBeside(
      options.rounds,
      () => check(options.seconds),
      async () => {
        let sent = 0;
        const next = (): string => requests[sent++ % requests.length] ?? "";
        const { connections, addresses } = options;
        const attack = startAttack({ url, connections, addresses, next });
        return { stop: async () => add(answers, await attack.stop()) };
      },
    );
    const quietP99Ms = median(alone.map(({ p99Ms }) => p99Ms));
    const abusedP99Ms = median(beside.map(({ p99Ms }) => p99Ms));
    const slowdown = abusedP99Ms / quietP99Ms;
    console.log(
      `checks alone: p99 ${ms(quietP99Ms)}; under attack: ${ms(abusedP99Ms)}, ${slowdown.toFixed(2)} times as long`,
    );
    console.log(`  responses to the attackers: ${JSON.stringify(answers)}`);

    const times = (value: number): string => `${value.toFixed(2)} times`;
    const faults = findExceeded([["slowdown of checks under attack", slowdown, options.slowdown, times]]);
    // Errors that also occur without an attack are caused by a slow machine.
    const failed = beside.map(({ errors }, round) => Math.max(0, errors - (alone[round]?.errors ?? 0)));
    const failures = failed.reduce((sum, errors) => sum + errors, 0);
    if (failures > 0) faults.push(`${failures} checks failed under attack`);
    const floods = {
      forged: () => floodWithForgedSecrets(url, options.forged),
      slow: () => floodWithSlowSockets(url, options.slow),
      malformed: () => floodWithGarbage(url, options.malformed),
    };
    // The first flood of each kind lets the heap grow to its working size.
    const memory: number[] = [];
    for (const name of ["forged", "slow", "malformed", "forged", "slow", "malformed"] as const) {
      const outcome = await withRealCallers(new Caller(service, project), floods[name]);
      memory.push(await service.residentMegabytes());
      console.log(`${name}: ${JSON.stringify(outcome)}, ${megabytes(memory.at(-1) ?? 0)} resident`);
      if (outcome.errors > 0) faults.push(`${outcome.errors} real calls failed during the ${name} flood`);
      if (Object.keys(outcome.answers).some((status) => status.startsWith("5")))
        faults.push(`the attackers in the ${name} flood got ${JSON.stringify(outcome.answers)}`);
    }
    const growth = Math.max(...memory.slice(3)) - Math.max(...memory.slice(0, 3));
    faults.push(...findExceeded([["memory growth", growth, GROWTH_MEGABYTES_MAX, megabytes]]));
    const figures = {
      check_p99_ms: rounded(quietP99Ms),
      check_p99_abused_ms: rounded(abusedP99Ms),
      slowdown: rounded(slowdown),
      resident_mb: memory.map(rounded),
    };
    return { faults, figures };
  },
);

function add(answers: Statuses, more: Statuses): void {
  for (const [status, count] of Object.entries(more)) answers[status] = (answers[status] ?? 0) + count;
}

/** Calls by real users during a flood: from backends, from a person, and with new API keys. */
async function withRealCallers(caller: Caller, flood: () => Promise<Statuses>) {
  const body = { customerId: "customer_1", feature: FEATURE };
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
  const asBackend = () => call("POST", "/v1/check", { body });
  const asPerson = async (): Promise<void> => {
    const { secret } = await call("POST", "api-keys", { body: { name: "New", scopes: ["check"] } });
    if (typeof secret === "string") await call("POST", "/v1/check", { body, secret });
    await call("GET", "/manage/v1/session");
  };
  const loops = [startLoop(asBackend), startLoop(asBackend), startLoop(asPerson)];
  const answers = await flood();
  await Promise.all(loops.map((loop) => loop.stop()));
  return { calls, errors, answers };
}
