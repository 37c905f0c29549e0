import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { CALLS, CUSTOMERS } from "../harness/calls.ts";
import { runProof } from "../harness/command.ts";
import { countRows } from "../harness/database.ts";
import { count, median, megabytes, ms, rounded } from "../harness/figures.ts";
import { fillCustomers, makeHotCustomer } from "../harness/fill-customers.ts";
import { measureBeside, type OpenLoopResult, runOpenLoop } from "../harness/open-loop.ts";
import { openInstallation } from "../harness/project.ts";
import { Service, startVerify, verify } from "../harness/purser.ts";

const HOT_ENTRIES = 100_000;
const WARM_UP_SECONDS = 5;
/** Time in which the command starts and begins to read. */
const START_MS = 2_000;

await runProof(
  {
    command: "npm run verify-proof",
    about: `Fills a ledger with a million entries: nine for each customer, and a hundred thousand for a hot one. Runs purser verify, and
measures charges alternately with and without it, so that a noisy machine affects both.`,
    options: {
      customers: { default: CUSTOMERS, help: "customers in addition to the hot one" },
      seconds: { default: 5, help: "length of each measurement" },
      rounds: { default: 10, help: "measurements with and without verify; the median is reported" },
      rate: { default: 500, help: "charges per second" },
    },
  },
  async ({ options: { customers, seconds, rounds, rate }, stack }) => {
    const installation = await openInstallation(stack);
    const { server, database, project } = installation;
    console.log(await server.describe());
    const service = await Service.start(database.url, stack);
    await fillCustomers({ ...installation, service }, "limited", customers);
    const hot = { customerId: "customer_hot", plan: "limited", entries: HOT_ENTRIES } as const;
    await makeHotCustomer({ ...installation, service }, hot);
    const entries = await countRows(database, "cell.ledger");
    console.log(`${count(entries)} ledger entries for ${count(customers)} customers and a hot customer`);

    const alone = await verify(database.url);
    console.log(alone.output);
    console.log(`without load: ${alone.seconds.toFixed(1)} s, peak memory ${megabytes(alone.peakMegabytes)}`);

    const charge = async (chargeSeconds: number): Promise<OpenLoopResult> => {
      const result = await runOpenLoop({
        ...{ url: service.url, apiKey: project.apiKey, call: CALLS.consume, customers, connections: 64 },
        ...{ perSecond: rate, warmUpSeconds: 0, seconds: chargeSeconds },
        keyPrefix: `verify-${randomUUID().slice(0, 13)}-`,
      });
      if (result.errors > 0) throw new Error(`${result.errors} charges failed or were denied`);
      return result;
    };
    await charge(WARM_UP_SECONDS);
    const charges = await measureBeside(
      rounds,
      () => charge(seconds),
      async () => {
        const verification = startVerify(database.url);
        await pause(START_MS);
        return {
          stop: async () => {
            verification.stop();
            const { code, output } = await verification.ended;
            if (code !== null)
              throw new Error(`verify ended with code ${code} during the measurement: ${output}`);
          },
        };
      },
    );
    const medianOf = (results: readonly OpenLoopResult[], name: "p50Ms" | "p99Ms"): number =>
      rounded(median(results.map((result) => result[name])));
    const figures = {
      entries,
      verify_seconds: rounded(alone.seconds),
      verify_peak_mb: rounded(alone.peakMegabytes),
      charges_per_s: rate,
      consume_p50_ms: medianOf(charges.alone, "p50Ms"),
      consume_p50_beside_verify_ms: medianOf(charges.beside, "p50Ms"),
      consume_p99_ms: medianOf(charges.alone, "p99Ms"),
      consume_p99_beside_verify_ms: medianOf(charges.beside, "p99Ms"),
    };
    console.log(
      `charges without verify: p50 ${ms(figures.consume_p50_ms)}, p99 ${ms(figures.consume_p99_ms)}`,
    );
    console.log(
      `charges during verify: p50 ${ms(figures.consume_p50_beside_verify_ms)}, p99 ${ms(figures.consume_p99_beside_verify_ms)}`,
    );
    const [charged] = await Promise.all([verify(database.url), charge(Math.ceil(alone.seconds))]);
    console.log(charged.output);
    return { figures };
  },
);
