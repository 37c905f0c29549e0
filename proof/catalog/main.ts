import { parseArgs } from "node:util";
import { median, ms, rounded } from "../bench/figures.ts";
import { awaitStatistics, openProofServer } from "../manage/server.ts";
import { Service } from "../manage/service.ts";
import { openShop } from "../manage/shop.ts";
import { verify } from "../verify/run-verify.ts";
import { Caller } from "./caller.ts";
import { fillCatalog } from "./fill.ts";

const HELP = `npm run catalog-proof -- [options]

Fills a catalog with plans that include everything, published again and again, and measures through two processes what
its size must not slow down: the first consume after a publication, top-ups, verify, and the way from export to apply.

  --features N      in the catalog, and in every plan (1000)
  --plans N         (200)
  --publications N  beyond the first of each plan (500)
  --rounds N        publications that are measured (10)
  --slack N         how many times longer than on a machine of its own it may take (1)
  --json            the last line is JSON
`;

const FIRST_CONSUME_MS_MAX = 100;
const TOP_UP_MS_MAX = 50;
const SERVICE_MB_MAX = 1_000;

const { values } = parseArgs({
  options: {
    features: { type: "string", default: "1000" },
    plans: { type: "string", default: "200" },
    publications: { type: "string", default: "500" },
    rounds: { type: "string", default: "10" },
    slack: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const size = {
  features: Number(values.features),
  plans: Number(values.plans),
  publications: Number(values.publications),
};

async function main(): Promise<void> {
  if (values.help) return console.log(HELP);
  await using stack = new AsyncDisposableStack();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(130)));
  }
  const server = await openProofServer(stack);
  const shop = await openShop(server);
  const rows = await fillCatalog(server, shop, size);
  console.log(`${rows.toLocaleString("en")} rows of what ${size.plans} plans have pinned`);
  await awaitStatistics(server, ["plan_features"]);
  const services = [
    await Service.start(server.databaseUrl, stack),
    await Service.start(server.databaseUrl, stack),
  ] as const;
  const [first, second] = services.map(({ url }) => new Caller(url, shop));
  if (first === undefined || second === undefined) throw new Error("there are two processes");

  const cold = await first.time(() => first.assign("ada", "plan.001"));
  console.log(`the first assignment, by a process that knows nothing: ${ms(cold)}`);
  await first.consume("ada");
  await second.consume("ada");

  const publishMs: number[] = [];
  const firstConsumeMs: number[] = [];
  const topUpMs: number[] = [];
  for (let round = 1; round <= Number(values.rounds); round++) {
    const credits = 100 + round;
    await first.priceFeature(credits);
    publishMs.push(await first.time(() => first.publish("plan.001", size.features)));
    for (const caller of [first, second]) {
      const startMs = performance.now();
      const charged = await caller.consume("ada");
      firstConsumeMs.push(performance.now() - startMs);
      if (charged !== credits)
        throw new Error(`${credits} credits were published, and ${charged} were charged`);
    }
    topUpMs.push(await first.time(() => first.topUp("ada", round)));
    topUpMs.push(await second.time(() => second.topUp("ben", round)));
  }
  console.log(`publish ${size.features} features: ${ms(median(publishMs))}`);
  console.log(
    `first consume after it: ${ms(median(firstConsumeMs))}, at most ${ms(Math.max(...firstConsumeMs))}`,
  );
  console.log(`top-up: ${ms(median(topUpMs))}, at most ${ms(Math.max(...topUpMs))}`);

  for (let plan = 1; plan <= size.plans; plan++) {
    const customer = `customer_${plan}`;
    await first.assign(customer, `plan.${String(plan).padStart(3, "0")}`);
    await first.consume(customer);
  }
  const everyPlanMb = await services[0].peakMegabytes();
  console.log(`a customer on each plan: at most ${everyPlanMb.toFixed(0)} MB resident`);

  const verified = await verify(server.databaseUrl);
  console.log(verified.output.trim());
  console.log(`verify: ${verified.seconds.toFixed(1)} s, ${verified.peakMegabytes.toFixed(0)} MB`);

  const exported = await first.exportCatalog("live");
  console.log(`exported ${(exported.text.length / 1e6).toFixed(1)} MB in ${ms(exported.ms)}`);
  const applyMs = await first.time(() => first.applyCatalog("test", exported.text));
  const again = await first.exportCatalog("test");
  if (again.text !== exported.text) throw new Error("what was applied is not what was exported");
  const applyAgainMs = await first.time(() => first.applyCatalog("test", exported.text));
  const peakMb = await services[0].peakMegabytes();
  console.log(
    `applied in ${ms(applyMs)}, and once more in ${ms(applyAgainMs)}; at most ${peakMb.toFixed(0)} MB`,
  );

  if (values.json)
    console.log(
      JSON.stringify({
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
        apply_ms: rounded(applyMs),
        apply_unchanged_ms: rounded(applyAgainMs),
        peak_mb: rounded(peakMb),
      }),
    );
  const slack = Number(values.slack);
  expectAtMost("the first consume after a publication", median(firstConsumeMs), FIRST_CONSUME_MS_MAX * slack);
  expectAtMost("a top-up", median(topUpMs), TOP_UP_MS_MAX * slack);
  expectAtMost("megabytes with a customer on each plan", everyPlanMb, SERVICE_MB_MAX);
}

function expectAtMost(what: string, value: number, most: number): void {
  if (!(value <= most)) throw new Error(`${what}: ${rounded(value)}, and at most ${most} was expected`);
}

await main();
