import { parseArgs } from "node:util";
import { median, ms, rounded } from "../bench/figures.ts";
import { FEATURE } from "../bench/load/calls.ts";
import { type OpenLoopResult, runOpenLoop } from "../bench/load/open-loop.ts";
import { openProofServer } from "../manage/server.ts";
import { Service } from "../manage/service.ts";
import { openShop, type Shop } from "../manage/shop.ts";
import { type Statuses, startAttack } from "./attacker.ts";
import { floodWithForgedSecrets, floodWithGarbage, floodWithSlowSockets } from "./floods.ts";
import { worstRequests } from "./worst-bodies.ts";

const HELP = `npm run abuse -- [options]

Measures /v1/check without and beside strangers who send the most expensive bodies there are, in turns. Then floods the
service with forged keys, tokens and sessions, with slow sockets and with what is not HTTP, while real callers go on. Fails
when checks become more than three times as slow, when a real caller gets a 5xx, or when memory grows. Needs Linux.

  --rounds N     turns of each side (7)
  --seconds N    length of each turn (5)
  --rate N       checks a second (200)
  --connections N  of strangers who send the worst bodies (64)
  --addresses N  from which they come (1)
  --forged N     forged secrets (12000)
  --slow N       slow sockets (2000)
  --malformed N  connections that send no HTTP (2000)
  --slowdown N   how many times slower checks may become (3)
  --json         the last line is JSON
`;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "5" },
    rate: { type: "string", default: "200" },
    connections: { type: "string", default: "64" },
    addresses: { type: "string", default: "1" },
    forged: { type: "string", default: "12000" },
    slow: { type: "string", default: "2000" },
    malformed: { type: "string", default: "2000" },
    slowdown: { type: "string", default: "3" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

/** Of the heap that a busy service grows into by itself, beyond what the first flood left. */
const GROWTH_MEGABYTES_MAX = 64;

async function main(): Promise<void> {
  if (values.help) return console.log(HELP);
  await using stack = new AsyncDisposableStack();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(130)));
  }
  const server = await openProofServer(stack);
  const shop = await openShop(server);
  const service = await Service.start(server.databaseUrl, stack);

  const worst = await measureWorstBodies(service, shop);
  const { quietP99Ms, abusedP99Ms, answers, failed } = worst;
  const slowdown = abusedP99Ms / quietP99Ms;
  console.log(
    `checks alone: p99 ${ms(quietP99Ms)}; beside the worst bodies: ${ms(abusedP99Ms)}, ${slowdown.toFixed(2)} times`,
  );
  console.log(`  strangers were answered with ${JSON.stringify(answers)}`);

  const faults: string[] = [];
  if (slowdown > Number(values.slowdown)) faults.push(`checks become ${slowdown.toFixed(2)} times slower`);
  if (failed > 0) faults.push(`${failed} checks failed beside the worst bodies`);
  const floods = {
    forged: () => floodWithForgedSecrets(service.url, readCount("forged")),
    slow: () => floodWithSlowSockets(service.url, readCount("slow")),
    malformed: () => floodWithGarbage(service.url, readCount("malformed")),
  };
  // The first of each lets the heap grow to where it stays.
  const memory: number[] = [];
  for (const name of ["forged", "slow", "malformed", "forged", "slow", "malformed"] as const) {
    const outcome = await besideRealCallers(service, shop, floods[name]);
    memory.push(await service.residentMegabytes());
    console.log(`${name}: ${JSON.stringify(outcome)}, ${memory.at(-1)?.toFixed(0)} MB resident`);
    if (outcome.errors > 0) faults.push(`${outcome.errors} real calls failed beside the flood ${name}`);
    if (Object.keys(outcome.answers).some((status) => status.startsWith("5")))
      faults.push(`strangers of the flood ${name} were answered with ${JSON.stringify(outcome.answers)}`);
  }
  const growth = Math.max(...memory.slice(3)) - Math.max(...memory.slice(0, 3));
  if (growth > GROWTH_MEGABYTES_MAX) faults.push(`memory grew by ${growth.toFixed(0)} MB`);

  for (const fault of faults) console.error(`FAILED: ${fault}`);
  if (values.json)
    console.log(
      JSON.stringify({
        check_p99_ms: rounded(quietP99Ms),
        check_p99_abused_ms: rounded(abusedP99Ms),
        slowdown: rounded(slowdown),
        resident_mb: memory.map(rounded),
      }),
    );
  if (faults.length > 0) process.exitCode = 1;
}

function readCount(
  name: "rounds" | "seconds" | "rate" | "connections" | "addresses" | "forged" | "slow" | "malformed",
): number {
  const count = Number(values[name]);
  if (!Number.isInteger(count) || count < 1) throw new Error(`--${name} takes a number, not ${values[name]}`);
  return count;
}

async function measureWorstBodies(service: Service, shop: Shop) {
  const requests = worstRequests();
  const quiet: number[] = [];
  const abused: number[] = [];
  const answers: Statuses = {};
  let failed = 0;
  await check(service, shop, 2);
  for (let round = 0; round < readCount("rounds"); round++) {
    const alone = await check(service, shop, readCount("seconds"));
    quiet.push(alone.p99Ms);
    let sent = 0;
    const attack = startAttack({
      url: service.url,
      connections: readCount("connections"),
      addresses: readCount("addresses"),
      next: () => requests[sent++ % requests.length] ?? "",
    });
    const beside = await check(service, shop, readCount("seconds"));
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

function check(service: Service, shop: Shop, seconds: number) {
  return runOpenLoop({
    url: service.url,
    apiKey: shop.apiKey,
    call: {
      path: "/v1/check",
      body: `{"customerId":"customer_%d","feature":"${FEATURE}","quantity":1}`,
      proof: '"allowed":',
    },
    customers: 1_000,
    perSecond: readCount("rate"),
    warmUpSeconds: 1,
    seconds,
    connections: 16,
    keyPrefix: "",
  });
}

/** Real callers while a flood lasts: a backend, a person, and an API key that nobody has used before. */
async function besideRealCallers(service: Service, shop: Shop, flood: () => Promise<Statuses>) {
  let isOver = false;
  let calls = 0;
  let errors = 0;
  const call = async (path: string, secret: string, body?: object): Promise<Record<string, unknown>> => {
    calls += 1;
    const reply = await fetch(`${service.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((error: unknown) => String(error));
    if (typeof reply === "string" || !reply.ok) {
      errors += 1;
      console.error(
        `${path}: ${typeof reply === "string" ? reply : `${reply.status} ${await reply.text()}`}`,
      );
      return {};
    }
    return (await reply.json()) as Record<string, unknown>;
  };
  const asBackend = async (): Promise<void> => {
    while (!isOver) await call("/v1/check", shop.apiKey, { customerId: "customer_1", feature: FEATURE });
  };
  const asPerson = async (): Promise<void> => {
    while (!isOver) {
      const made = await call(`${shop.here}/api-keys`, shop.token, { name: "New", scopes: ["check"] });
      const { secret } = made;
      if (typeof secret === "string")
        await call("/v1/check", secret, { customerId: "customer_1", feature: FEATURE });
      await call("/manage/v1/session", shop.token);
    }
  };
  const real = Promise.all([asBackend(), asBackend(), asPerson()]);
  const answers = await flood();
  isOver = true;
  await real;
  return { calls, errors, answers };
}

await main();
