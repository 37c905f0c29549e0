import type { Browser, BrowserContext } from "playwright-core";
import { median, quantile } from "../harness/figures.ts";
import { awaitReady, logIn, type Owner, openContext } from "./chromium.ts";
import type { DashboardPage } from "./pages.ts";
import { watchTraffic } from "./traffic.ts";

export type Measured = {
  readonly name: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Until all that comes later is there too: charts, the sum of a ledger. */
  readonly settledP95Ms: number;
  /** Compressed, as they come over the wire, of one load with an empty cache; headers too. */
  readonly scriptBytes: number;
  readonly chartBytes: number;
};

const LOOK = { scheme: "light", width: 1440 } as const;
const READY_MS_MAX = 15_000;

type Visit = { readonly url: string; readonly complaints: string[] };
type Loaded = {
  readonly readyMs: number;
  readonly settledMs: number;
  readonly scriptBytes: number;
  readonly chartBytes: number;
};
type Cookies = Awaited<ReturnType<BrowserContext["cookies"]>>;

export async function cookiesOf(browser: Browser, visit: Visit, owner: Owner): Promise<Cookies> {
  const context = await openContext(browser, { ...visit, look: LOOK });
  await logIn(context, owner);
  const cookies = await context.cookies();
  await context.close();
  return cookies;
}

/** Each time with an empty cache, as somebody who opens it for the first time. */
export async function measurePage(
  browser: Browser,
  visit: Visit & { readonly cookies: Cookies; readonly rounds: number },
  page: DashboardPage & { readonly address: string },
): Promise<Measured> {
  // Also warms the service up.
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
  { address, row }: { readonly address: string; readonly row: string },
): Promise<Loaded> {
  const context = await openContext(browser, { url, look: LOOK, complaints });
  await context.addCookies(cookies);
  const page = await context.newPage();
  const traffic = await watchTraffic(page);
  await page.goto(address, { waitUntil: "commit" });
  await awaitReady(page, ["h1", row], READY_MS_MAX);
  // Answered only when the page has a moment for it: until then nobody could click anything either.
  const readyMs = Number(await page.evaluate("performance.now()"));
  // What comes after that counts by when it came, not by when we had seen that nothing follows.
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

const LAST_ANSWER_MS = `Math.max(0, ...performance.getEntriesByType("resource")
  .filter(({ initiatorType }) => ["script", "fetch", "link"].includes(initiatorType))
  .map(({ responseEnd }) => responseEnd))`;
