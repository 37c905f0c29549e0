import type { Browser, BrowserContext } from "playwright-core";
import { Caller } from "../harness/caller.ts";
import { runProof } from "../harness/command.ts";
import { count, findExceeded, median, ms, quantile, rounded } from "../harness/figures.ts";
import { OWNER } from "../harness/project.ts";
import { awaitReady, logIn, type Owner, openChromium, openContext, watchTraffic } from "./chromium.ts";
import { openFilled } from "./installations.ts";
import { type Interaction, measureInteractions } from "./interactions.ts";
import { AUTH_PAGES, addressOf, type DashboardPage, findSubjects, PAGES } from "./pages.ts";

const SCRIPT_BYTES_MAX = 250_000;
const APPEARANCE = { scheme: "light", width: 1440 } as const;
const READY_MS_MAX = 15_000;
const INTERACTION_MS_MAX = 300;

const LAST_ANSWER_MS = `Math.max(0, ...performance.getEntriesByType("resource")
  .filter(({ initiatorType }) => ["script", "fetch", "link"].includes(initiatorType))
  .map(({ responseEnd }) => responseEnd))`;

await runProof(
  {
    command: "npm run dashboard-proof",
    about: `Fills a database with 100,000 customers and a million ledger entries. Opens every page of the dashboard in Chromium with an
empty cache, and measures the time until its content is shown and it responds to a click. Then searches, sorts, filters and selects
in the list of customers.
Fails if that takes longer than a second at p95, if a first load has more than 250 kB of compressed JavaScript, if an interaction
takes longer than 300 ms at p95, or if a page writes errors to its console. Charts, the sum of a ledger and the figures of a monthly
statement, which reads all entries, load later: their time and the size of their JavaScript are shown separately.`,
    options: {
      customers: { default: 100_000, help: "customers with nine entries each" },
      entries: { default: 1_000_000, help: "total number of ledger entries; a busy customer gets the rest" },
      rounds: { default: 20, help: "loads of each page, and repetitions of each interaction" },
      "p95-ms": { default: 1_000, help: "limit in milliseconds; raise it on a busy machine" },
    },
  },
  async ({ options, stack }) => {
    const { customers, rounds, "p95-ms": p95MsMax } = options;
    const { service, project, entries } = await openFilled(options, stack);
    console.log(`${count(customers)} customers and a busy customer, ${count(entries)} ledger entries`);
    const { url } = service;
    const projectId = String(project.context.projectId);
    const caller = new Caller(service, project);
    const subjects = await findSubjects(caller, { projectId, environment: "live" });
    const browser = await openChromium(stack);
    const complaints: string[] = [];
    const cookies = await cookiesOf(browser, { url, complaints }, OWNER);

    const measured: Measured[] = [];
    const faults: string[] = [];
    const visits = [
      ...AUTH_PAGES.map((page) => ({ page, cookies: [] })),
      ...PAGES.map((page) => ({ page, cookies })),
    ];
    for (const { page, cookies: session } of visits) {
      const address = addressOf(page, subjects);
      if (address === null) {
        faults.push(`${page.name}: found no data for this page`);
        continue;
      }
      const visit = { url, complaints, cookies: session, rounds };
      try {
        const result = await measurePage(browser, visit, { ...page, address });
        measured.push(result);
        print(result);
      } catch (error) {
        // A failure must not prevent the other measurements.
        faults.push(`${page.name}: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
      }
    }
    const context = await openContext(browser, { url, appearance: APPEARANCE, complaints });
    await context.addCookies(cookies);
    const address = `${url}/projects/${projectId}/live/customers`;
    const interactions = await measureInteractions(await context.newPage(), { address, caller, rounds });
    for (const { name, p95Ms } of interactions) console.log(`${ms(p95Ms).padStart(9)} p95  ${name}`);
    faults.push(
      ...measured.flatMap((page) => findFaults(page, p95MsMax)),
      ...findExceeded(interactions.map(({ name, p95Ms }) => [`${name}: p95`, p95Ms, INTERACTION_MS_MAX, ms])),
      ...complaints,
    );
    return { faults, figures: summarize(customers, entries, measured, interactions) };
  },
);

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(0)} kB`;
}

function print({ name, p50Ms, p95Ms, settledP95Ms, scriptBytes, chartBytes }: Measured): void {
  const times = `${ms(p50Ms).padStart(10)} p50 ${ms(p95Ms).padStart(10)} p95 ${ms(settledP95Ms).padStart(10)} all`;
  const charts = chartBytes === 0 ? "" : ` + ${kilobytes(chartBytes)} of charts`;
  console.log(`${times} ${kilobytes(scriptBytes).padStart(8)} of scripts  ${name}${charts}`);
}

function findFaults({ name, p95Ms, scriptBytes }: Measured, p95MsMax: number): string[] {
  return findExceeded([
    [`${name}: p95`, p95Ms, p95MsMax, ms],
    [`${name}: scripts`, scriptBytes, SCRIPT_BYTES_MAX, kilobytes],
  ]);
}

function summarize(
  customers: number,
  entries: number,
  measured: readonly Measured[],
  interactions: readonly Interaction[],
): object {
  return {
    customers,
    entries,
    p95_ms_max: rounded(Math.max(...measured.map(({ p95Ms }) => p95Ms))),
    interactions: Object.fromEntries(interactions.map(({ name, p95Ms }) => [name, rounded(p95Ms)])),
    script_bytes_max: Math.max(...measured.map(({ scriptBytes }) => scriptBytes)),
    pages: Object.fromEntries(
      measured.map(({ name, p50Ms, p95Ms, settledP95Ms, scriptBytes, chartBytes }) => [
        name,
        {
          p50_ms: rounded(p50Ms),
          p95_ms: rounded(p95Ms),
          settled_p95_ms: rounded(settledP95Ms),
          script_bytes: scriptBytes,
          chart_bytes: chartBytes,
        },
      ]),
    ),
  };
}

type Measured = {
  readonly name: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Includes parts that load later, such as charts and the sum of a ledger. */
  readonly settledP95Ms: number;
  /** Compressed size in one load with an empty cache, including headers. */
  readonly scriptBytes: number;
  readonly chartBytes: number;
};

type Visit = { readonly url: string; readonly complaints: string[] };
type Loaded = {
  readonly readyMs: number;
  readonly settledMs: number;
  readonly scriptBytes: number;
  readonly chartBytes: number;
};
type Cookies = Awaited<ReturnType<BrowserContext["cookies"]>>;

async function cookiesOf(browser: Browser, visit: Visit, owner: Owner): Promise<Cookies> {
  const context = await openContext(browser, { ...visit, appearance: APPEARANCE });
  await logIn(context, owner);
  const cookies = await context.cookies();
  await context.close();
  return cookies;
}

/** Each load has an empty cache. */
async function measurePage(
  browser: Browser,
  visit: Visit & { readonly cookies: Cookies; readonly rounds: number },
  page: DashboardPage & { readonly address: string },
): Promise<Measured> {
  // Also warms up the service.
  const { scriptBytes, chartBytes } = await load(browser, visit, page);
  const loads: Loaded[] = [];
  for (let i = 0; i < visit.rounds; i++) loads.push(await load(browser, visit, page));
  const readyMs = loads.map((one) => one.readyMs);
  const settledP95Ms = quantile(
    loads.map(({ settledMs }) => settledMs),
    0.95,
  );
  return {
    name: page.name,
    p50Ms: median(readyMs),
    p95Ms: quantile(readyMs, 0.95),
    settledP95Ms,
    scriptBytes,
    chartBytes,
  };
}

async function load(
  browser: Browser,
  { url, complaints, cookies }: Visit & { readonly cookies: Cookies },
  { address, row, usable }: DashboardPage & { readonly address: string },
): Promise<Loaded> {
  const context = await openContext(browser, { url, appearance: APPEARANCE, complaints });
  await context.addCookies(cookies);
  const page = await context.newPage();
  const traffic = await watchTraffic(page);
  await page.goto(address, { waitUntil: "commit" });
  await awaitReady(page, ["h1", usable ?? row], READY_MS_MAX, { mayLoad: usable !== undefined });
  // Resolves when the page's thread is idle, so that it can respond to a click.
  const readyMs = Number(await page.evaluate("performance.now()"));
  await awaitReady(page, [row], READY_MS_MAX);
  // Measured to the last response, without the quiet time that follows.
  await traffic.settle();
  const lastMs = Number(await page.evaluate(LAST_ANSWER_MS));
  await context.close();
  return {
    readyMs,
    settledMs: Math.max(readyMs, lastMs),
    scriptBytes: traffic.scriptBytes(),
    chartBytes: traffic.chartBytes(),
  };
}
