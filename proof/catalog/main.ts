import { randomUUID } from "node:crypto";
import { Caller, type Reply } from "../harness/caller.ts";
import { runProof } from "../harness/command.ts";
import { awaitStatistics } from "../harness/database.ts";
import { count, findExceeded, median, megabytes, ms, rounded } from "../harness/figures.ts";
import { openInstallation } from "../harness/project.ts";
import { Service, verify } from "../harness/purser.ts";
import { fillCatalog } from "./fill.ts";

const FIRST_CONSUME_MS_MAX = 100;
const TOP_UP_MS_MAX = 50;
const SERVICE_MB_MAX = 1_000;

const FEATURE = "feature.0001";
const ANY_VERSION = { "if-match": "*" };

await runProof(
  {
    command: "npm run catalog-proof",
    about: `Fills a catalog with plans that include every feature and have many versions. Measures, with two processes, the
operations that a large catalog could slow down: the first consume after a publication, top-ups, verify, export and import.`,
    options: {
      features: { default: 1_000, help: "features in the catalog, and in every plan" },
      plans: { default: 200, help: "plans" },
      publications: { default: 500, help: "plan versions in addition to the first version of each plan" },
      rounds: { default: 10, help: "publications to measure" },
      slack: { default: 1, help: "multiply the time limits by this, for a busy machine" },
    },
  },
  async ({ options: { rounds, slack, ...size }, stack }) => {
    const { database, project } = await openInstallation(stack);
    const rows = await fillCatalog(database, project, size);
    console.log(`${count(rows)} features in all versions of ${size.plans} plans`);
    await awaitStatistics(database, ["plan_features"]);
    const service = await Service.start(database.url, stack);
    const first = new Caller(service, project);
    const second = new Caller(await Service.start(database.url, stack), project);

    const cold = await assign(first, "ada", "plan.001");
    console.log(`first assignment in a new process: ${ms(cold.ms)}`);
    await consume(first, "ada");
    await consume(second, "ada");

    const publishMs: number[] = [];
    const firstConsumeMs: number[] = [];
    const topUpMs: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      const credits = 100 + round;
      await priceFeature(first, credits);
      publishMs.push(await publish(first, "plan.001", size.features));
      for (const caller of [first, second]) {
        const startMs = performance.now();
        const charged = await consume(caller, "ada");
        firstConsumeMs.push(performance.now() - startMs);
        if (charged !== credits) throw new Error(`published ${credits} credits, but charged ${charged}`);
      }
      topUpMs.push((await topUp(first, "ada", round)).ms, (await topUp(second, "ben", round)).ms);
    }
    console.log(`publish ${size.features} features: ${ms(median(publishMs))}`);
    console.log(
      `first consume after a publication: ${ms(median(firstConsumeMs))}, max ${ms(Math.max(...firstConsumeMs))}`,
    );
    console.log(`top-up: ${ms(median(topUpMs))}, max ${ms(Math.max(...topUpMs))}`);

    for (let plan = 1; plan <= size.plans; plan++) {
      await assign(first, `customer_${plan}`, `plan.${String(plan).padStart(3, "0")}`);
      await consume(first, `customer_${plan}`);
    }
    const everyPlanMb = await service.peakMegabytes();
    console.log(`one customer on each plan: peak memory ${megabytes(everyPlanMb)}`);

    const verified = await verify(database.url);
    console.log(verified.output);
    console.log(`verify: ${verified.seconds.toFixed(1)} s, ${megabytes(verified.peakMegabytes)}`);

    const exported = await exportCatalog(first, "live");
    console.log(`exported ${(exported.text.length / 1e6).toFixed(1)} MB in ${ms(exported.ms)}`);
    const applied = await applyCatalog(first, "test", exported.text);
    const again = await exportCatalog(first, "test");
    if (again.text !== exported.text) throw new Error("the applied catalog differs from the exported one");
    const appliedAgain = await applyCatalog(first, "test", exported.text);
    const peakMb = await service.peakMegabytes();
    console.log(
      `applied in ${ms(applied.ms)}, again without changes in ${ms(appliedAgain.ms)}; peak memory ${megabytes(peakMb)}`,
    );

    return {
      faults: findExceeded([
        ["first consume after a publication", median(firstConsumeMs), FIRST_CONSUME_MS_MAX * slack, ms],
        ["top-up", median(topUpMs), TOP_UP_MS_MAX * slack, ms],
        ["memory with a customer on each plan", everyPlanMb, SERVICE_MB_MAX, megabytes],
      ]),
      figures: {
        ...size,
        rows,
        publish_ms: rounded(median(publishMs)),
        first_consume_ms: rounded(median(firstConsumeMs)),
        first_consume_max_ms: rounded(Math.max(...firstConsumeMs)),
        top_up_ms: rounded(median(topUpMs)),
        top_up_max_ms: rounded(Math.max(...topUpMs)),
        every_plan_mb: rounded(everyPlanMb),
        verify_seconds: rounded(verified.seconds),
        verify_mb: rounded(verified.peakMegabytes),
        document_mb: rounded(exported.text.length / 1e6),
        export_ms: rounded(exported.ms),
        apply_ms: rounded(applied.ms),
        apply_unchanged_ms: rounded(appliedAgain.ms),
        peak_mb: rounded(peakMb),
      },
    };
  },
);

/** Returns the credits charged. */
async function consume(caller: Caller, customerId: string): Promise<number> {
  const answer = await caller.consume(customerId, { feature: FEATURE });
  if (!answer.allowed) throw new Error(`a consume request was denied: ${JSON.stringify(answer)}`);
  return answer.creditsCharged;
}

function assign(caller: Caller, customerId: string, plan: string): Promise<Reply> {
  return caller.call("POST", `customers/${customerId}/plan`, { body: { plan } });
}

function topUp(caller: Caller, customerId: string, credits: number): Promise<Reply> {
  const body = { kind: "purchase", credits, reference: randomUUID() };
  return caller.call("POST", `customers/${customerId}/credits`, { body });
}

function priceFeature(caller: Caller, credits: number): Promise<Reply> {
  const body = { name: "Feature 1", unit: "call", cost: { credits } };
  return caller.call("PUT", `features/${FEATURE}`, { body, headers: ANY_VERSION });
}

/** Publishes a version with every feature, for all customers. Returns the duration in milliseconds. */
async function publish(caller: Caller, plan: string, features: number): Promise<number> {
  const limit = { quantity: 100_000, period: "month" };
  const body = {
    name: "Plan 1",
    allowances: [{ credits: 1_000_000, period: "month" }],
    features: Array.from({ length: features }, (_, index) => ({
      feature: `feature.${String(index + 1).padStart(4, "0")}`,
      limit,
    })),
  };
  const saved = await caller.call("PUT", `plans/${plan}/draft`, { body, headers: ANY_VERSION });
  const published = await caller.call("POST", `plans/${plan}/publish`, { body: { reach: "now" } });
  return saved.ms + published.ms;
}

function exportCatalog(caller: Caller, environment: "test" | "live"): Promise<Reply> {
  return caller.call("GET", catalogOf(environment));
}

function applyCatalog(caller: Caller, environment: "test" | "live", document: string): Promise<Reply> {
  const body = `{"catalog":${document},"reach":"new_assignments"}`;
  return caller.call("POST", `${catalogOf(environment)}/apply`, { body });
}

function catalogOf(environment: string): string {
  return `/manage/v1/projects/1/${environment}/catalog`;
}
