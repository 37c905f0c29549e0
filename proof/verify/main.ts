import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { runProof } from "../harness/command.ts";
import { countRows } from "../harness/database.ts";
import { count, median, ms, rounded } from "../harness/figures.ts";
import { fillCustomers, makeHotCustomer } from "../harness/fill-customers.ts";
import { CALLS, CUSTOMERS } from "../harness/load/calls.ts";
import { type OpenLoopResult, runOpenLoop } from "../harness/load/open-loop.ts";
import { PostgresServer } from "../harness/postgres.ts";
import { openProject } from "../harness/project.ts";
import { Service, startVerify, verify } from "../harness/purser.ts";

const HOT_ENTRIES = 100_000;
const WARM_UP_SECONDS = 5;
/** Until the command is at work. */
const START_MS = 2_000;

await runProof(
  {
    command: "npm run verify-proof",
    about: `Fills a ledger with a million entries: nine of each customer, and a hundred thousand of a hot one. Verifies it, and
measures charges with and without a verification beside them, in turns, so that a noisy neighbour hits both alike.`,
    options: {
      customers: { default: CUSTOMERS, help: "beside the hot one" },
      seconds: { default: 5, help: "length of each turn" },
      rounds: { default: 10, help: "turns of each side; the median counts" },
      rate: { default: 500, help: "charges a second" },
    },
  },
  async ({ options: { customers, seconds, rounds, rate }, stack }) => {
    const server = await PostgresServer.start(stack);
    console.log(await server.describe());
    const database = await server.createDatabase("purser");
    const project = await openProject(database.url);
    const service = await Service.start(database.url, stack);
    const place = { database, service, project };
    await fillCustomers(place, "limited", customers);
    await makeHotCustomer(place, { customerId: "customer_hot", plan: "limited", entries: HOT_ENTRIES });
    const entries = await countRows(database, "cell.ledger");
    console.log(`${count(entries)} ledger entries of ${count(customers)} customers and a hot one`);

    const alone = await verify(database.url);
    console.log(alone.output);
    console.log(
      `alone: ${alone.seconds.toFixed(1)} s, at most ${alone.peakMegabytes.toFixed(0)} MB resident`,
    );

    const charge = async (turnSeconds: number): Promise<OpenLoopResult> => {
      const result = await runOpenLoop({
        url: service.url,
        apiKey: project.apiKey,
        call: CALLS.consume,
        customers,
        perSecond: rate,
        warmUpSeconds: 0,
        seconds: turnSeconds,
        connections: 64,
        keyPrefix: `verify-${randomUUID().slice(0, 13)}-`,
      });
      if (result.errors > 0) throw new Error(`${result.errors} charges failed or were denied`);
      return result;
    };
    const without: OpenLoopResult[] = [];
    const beside: OpenLoopResult[] = [];
    await charge(WARM_UP_SECONDS);
    for (let round = 1; round <= rounds; round++) {
      without.push(await charge(seconds));
      const verification = startVerify(database.url);
      await pause(START_MS);
      beside.push(await charge(seconds));
      verification.stop();
      const { code, output } = await verification.ended;
      if (code !== null) throw new Error(`verify ended with code ${code} during a turn: ${output}`);
    }
    const figures = {
      entries,
      verify_seconds: rounded(alone.seconds),
      verify_peak_mb: rounded(alone.peakMegabytes),
      charges_per_s: rate,
      consume_p50_ms: rounded(median(without.map(({ p50Ms }) => p50Ms))),
      consume_p50_beside_verify_ms: rounded(median(beside.map(({ p50Ms }) => p50Ms))),
      consume_p99_ms: rounded(median(without.map(({ p99Ms }) => p99Ms))),
      consume_p99_beside_verify_ms: rounded(median(beside.map(({ p99Ms }) => p99Ms))),
    };
    console.log(
      `charges without verify: p50 ${ms(figures.consume_p50_ms)}, p99 ${ms(figures.consume_p99_ms)}`,
    );
    console.log(
      `charges beside verify: p50 ${ms(figures.consume_p50_beside_verify_ms)}, p99 ${ms(figures.consume_p99_beside_verify_ms)}`,
    );
    const [charged] = await Promise.all([verify(database.url), charge(Math.ceil(alone.seconds))]);
    console.log(charged.output);
    return { figures };
  },
);
