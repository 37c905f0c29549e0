import { runWrk, type WrkResult } from "../bench/load/wrk.ts";
import { CALLS } from "../harness/calls.ts";
import { runProof } from "../harness/command.ts";
import { withPool } from "../harness/database.ts";
import { count, findExceeded, median, ms, rate, rounded } from "../harness/figures.ts";
import { fillWithPlan } from "../harness/fill-customers.ts";
import { measureBeside, type OpenLoopResult, runOpenLoop } from "../harness/open-loop.ts";
import { addProject, openInstallation } from "../harness/project.ts";
import { Service } from "../harness/purser.ts";

const CUSTOMERS = 10_000;
/** Enough connections to reach the highest rate of charges. */
const BUSY_CONNECTIONS = 128;
const CAPACITY_SECONDS = 8;
const WARM_UP_SECONDS = 2;

await runProof(
  {
    command: "npm run fairness-proof",
    about: `Measures the charges or checks of a quiet project, alternately alone and while another project sends requests at full
speed. Fails if a request of the quiet project is rejected, or if its p99 becomes more than three times as long.`,
    options: {
      trials: { default: 20, help: "pairs of measurements: alone, then with the busy project" },
      seconds: { default: 10, help: "length of each measurement" },
      rate: { default: 50, help: "requests per second of the quiet project" },
      call: { default: "consume", takes: "CALL", help: "consume, check or events" },
      connections: { default: 2_500, help: "connections of the busy project, more than the queue can hold" },
      slowdown: {
        default: 3,
        help: "maximum ratio of p99 with the busy project to p99 alone",
      },
    },
  },
  async ({ options, stack }) => {
    const call = CALLS[options.call as "consume" | "check" | "events"];
    const { database, project: busy } = await openInstallation(stack);
    const quiet = await withPool(database.url, (pool) => addProject(pool, "Quiet"));
    for (const { context } of [busy, quiet]) await fillWithPlan(database.url, context, CUSTOMERS);
    const { url } = await Service.start(database.url, stack);

    const flood = (seconds: number, connections: number): Promise<WrkResult> =>
      runWrk({ url, apiKey: busy.apiKey, call, customers: CUSTOMERS, seconds, connections });
    let trial = 0;
    const measure = async (): Promise<OpenLoopResult> => {
      const result = await runOpenLoop({
        ...{ url, apiKey: quiet.apiKey, call, customers: CUSTOMERS, connections: 64 },
        ...{
          perSecond: options.rate,
          warmUpSeconds: 1,
          seconds: options.seconds,
          keyPrefix: `quiet-${trial++}-`,
        },
      });
      console.log(`  p50 ${ms(result.p50Ms)}, p99 ${ms(result.p99Ms)}, ${result.errors} errors`);
      return result;
    };

    const { requests, seconds } = await flood(CAPACITY_SECONDS, BUSY_CONNECTIONS);
    const capacity = requests / seconds;
    console.log(`capacity of one project: ${rate(capacity)} ${options.call}`);
    const offers: number[] = [];
    const { alone, beside } = await measureBeside(options.trials, measure, async () => {
      const offered = flood(options.seconds + WARM_UP_SECONDS, options.connections);
      return {
        stop: async () => {
          const result = await offered;
          offers.push(result.requests / result.seconds / capacity);
          console.log(
            `  busy project: ${rate(result.requests / result.seconds)}; ${count(result.errors)} requests were rejected`,
          );
        },
      };
    });
    const aloneP99Ms = median(alone.map(({ p99Ms }) => p99Ms));
    const ratios = beside.map(({ p99Ms }) => p99Ms / aloneP99Ms);
    const errors = beside.reduce((sum, result) => sum + result.errors, 0);
    const times = (value: number): string => `${value.toFixed(2)} times`;
    console.log(
      `alone: p99 ${ms(aloneP99Ms)}; with the busy project: ${times(median(ratios))} as long, at most ${times(Math.max(...ratios))}`,
    );
    const faults = findExceeded([["the p99 of the quiet project", median(ratios), options.slowdown, times]]);
    if (errors > 0) faults.push(`${errors} requests of the quiet project failed`);
    const figures = {
      capacity: Math.round(capacity),
      offered: rounded(median(offers)),
      alone_p99_ms: rounded(aloneP99Ms),
      slowdown: rounded(median(ratios)),
      slowdown_max: rounded(Math.max(...ratios)),
      errors,
    };
    return { faults, figures };
  },
);
