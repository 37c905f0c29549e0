import { Caller } from "../harness/caller.ts";
import { runProof } from "../harness/command.ts";
import { awaitStatistics } from "../harness/database.ts";
import { count, median, ms, rounded } from "../harness/figures.ts";
import { PostgresServer } from "../harness/postgres.ts";
import { openProject } from "../harness/project.ts";
import { Service, verify } from "../harness/purser.ts";
import { fillCatalog } from "./fill.ts";
import { applyCatalog, assign, consume, exportCatalog, priceFeature, publish, topUp } from "./operations.ts";

const FIRST_CONSUME_MS_MAX = 100;
const TOP_UP_MS_MAX = 50;
const SERVICE_MB_MAX = 1_000;

await runProof(
  {
    command: "npm run catalog-proof",
    about: `Fills a catalog with plans that include everything, published again and again, and measures through two processes what
its size must not slow down: the first consume after a publication, top-ups, verify, and the way from export to apply.`,
    options: {
      features: { default: 1_000, help: "in the catalog, and in every plan" },
      plans: { default: 200, help: "how many" },
      publications: { default: 500, help: "beyond the first of each plan" },
      rounds: { default: 10, help: "publications that are measured" },
      slack: { default: 1, help: "how many times longer than on a machine of its own it may take" },
    },
  },
  async ({ options: { rounds, slack, ...size }, stack }) => {
    const server = await PostgresServer.start(stack);
    const database = await server.createDatabase("purser");
    const project = await openProject(database.url);
    const rows = await fillCatalog(database, project, size);
    console.log(`${count(rows)} rows of what ${size.plans} plans have pinned`);
    await awaitStatistics(database, ["plan_features"]);
    const service = await Service.start(database.url, stack);
    const first = new Caller(service, project);
    const second = new Caller(await Service.start(database.url, stack), project);

    const cold = await assign(first, "ada", "plan.001");
    console.log(`the first assignment, by a process that knows nothing: ${ms(cold.ms)}`);
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
        if (charged !== credits)
          throw new Error(`${credits} credits were published, and ${charged} were charged`);
      }
      topUpMs.push((await topUp(first, "ada", round)).ms, (await topUp(second, "ben", round)).ms);
    }
    console.log(`publish ${size.features} features: ${ms(median(publishMs))}`);
    console.log(
      `first consume after it: ${ms(median(firstConsumeMs))}, at most ${ms(Math.max(...firstConsumeMs))}`,
    );
    console.log(`top-up: ${ms(median(topUpMs))}, at most ${ms(Math.max(...topUpMs))}`);

    for (let plan = 1; plan <= size.plans; plan++) {
      await assign(first, `customer_${plan}`, `plan.${String(plan).padStart(3, "0")}`);
      await consume(first, `customer_${plan}`);
    }
    const everyPlanMb = await service.peakMegabytes();
    console.log(`a customer on each plan: at most ${everyPlanMb.toFixed(0)} MB resident`);

    const verified = await verify(database.url);
    console.log(verified.output);
    console.log(`verify: ${verified.seconds.toFixed(1)} s, ${verified.peakMegabytes.toFixed(0)} MB`);

    const exported = await exportCatalog(first, "live");
    console.log(`exported ${(exported.text.length / 1e6).toFixed(1)} MB in ${ms(exported.ms)}`);
    const applied = await applyCatalog(first, "test", exported.text);
    const again = await exportCatalog(first, "test");
    if (again.text !== exported.text) throw new Error("what was applied is not what was exported");
    const appliedAgain = await applyCatalog(first, "test", exported.text);
    const peakMb = await service.peakMegabytes();
    console.log(
      `applied in ${ms(applied.ms)}, and once more in ${ms(appliedAgain.ms)}; at most ${peakMb.toFixed(0)} MB`,
    );

    const bounds = [
      ["the first consume after a publication, in ms", median(firstConsumeMs), FIRST_CONSUME_MS_MAX * slack],
      ["a top-up, in ms", median(topUpMs), TOP_UP_MS_MAX * slack],
      ["megabytes with a customer on each plan", everyPlanMb, SERVICE_MB_MAX],
    ] as const;
    return {
      faults: bounds
        .filter(([, value, most]) => !(value <= most))
        .map(([what, value, most]) => `${what}: ${rounded(value)}, and at most ${most} was expected`),
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
