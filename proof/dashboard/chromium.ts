import type { Browser, BrowserContext, Page, Request } from "playwright-core";
import { collectComplaints, launchChromium } from "../../dashboard/test/chromium.ts";

export type Owner = { readonly email: string; readonly password: string };
export type Appearance = { readonly scheme: "light" | "dark"; readonly width: number };

export async function openChromium(stack: AsyncDisposableStack): Promise<Browser> {
  const browser = await launchChromium();
  stack.defer(() => browser.close());
  return browser;
}

/** A browser context for a new visitor. Errors and warnings on the console are added to `complaints`. */
export async function openContext(
  browser: Browser,
  { url, appearance, complaints }: { url: string; appearance: Appearance; complaints: string[] },
): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: appearance.width, height: 900 },
    colorScheme: appearance.scheme,
    locale: "en-US",
    timezoneId: "UTC",
  });
  collectComplaints(context, (text, page) => complaints.push(`${page}: ${text}`));
  return context;
}

export async function logIn(context: BrowserContext, { email, password }: Owner): Promise<Page> {
  const page = await context.newPage();
  await page.goto("/log-in");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
  await page.waitForURL((address) => address.pathname !== "/log-in");
  return page;
}

/** Waits until these elements are visible and no loading placeholder is left. With `mayLoad`, placeholders may be left. */
export async function awaitReady(
  page: Page,
  wanted: readonly string[],
  timeoutMs: number,
  { mayLoad = false } = {},
): Promise<void> {
  const isReady = `${JSON.stringify(wanted)}.every((one) => document.querySelector(one)?.checkVisibility()) &&
    (${mayLoad} || document.querySelector("[aria-label=Loading]") === null)`;
  const timeout = AbortSignal.timeout(timeoutMs);
  const late = new Promise<never>((_, reject) => {
    timeout.onabort = () => reject(new Error(`not ready after ${timeoutMs} ms: ${wanted.join(", ")}`));
  });
  await Promise.race([awaitFrame(page, isReady), late]);
}

/**
 * Waits until the condition is true in the page, and looks in each frame. A locator would look only every half second after a while, and
 * `waitForFunction` does not work with the dashboard's content security policy.
 */
export async function awaitFrame(page: Page, condition: string): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const look = () => (${condition}) ? resolve() : requestAnimationFrame(look);
    look();
  })`);
}

type Traffic = {
  /** Compressed size of all scripts loaded so far, without charts. */
  scriptBytes(): number;
  /** Compressed size of the scripts of charts, which load after the page. */
  chartBytes(): number;
  /** Resolves when no request from the page is open. */
  settle(): Promise<void>;
};

const SCRIPTS_AND_CALLS = new Set(["script", "fetch", "xhr"]);
const CHARTS = /\/assets\/(charts|[a-z]+-chart)-[^/]*\.js$/;
/** A page is complete after this time without a new request, because responses trigger follow-up requests immediately. */
const QUIET_MS = 50;

/** Watches the requests that a page sends. Must be called before its first request. */
export async function watchTraffic(page: Page): Promise<Traffic> {
  const pending = new Set<Request>();
  let changes = 0;
  page.on("request", (request) => {
    if (SCRIPTS_AND_CALLS.has(request.resourceType())) pending.add(request);
    changes++;
  });
  const onEnd = (request: Request): void => void (pending.delete(request) && changes++);
  page.on("requestfinished", onEnd);
  page.on("requestfailed", onEnd);

  const scripts = new Map<string, "script" | "chart">();
  const bytes = { script: 0, chart: 0 };
  const session = await page.context().newCDPSession(page);
  session.on("Network.responseReceived", ({ requestId, type, response }) => {
    if (type === "Script") scripts.set(requestId, CHARTS.test(response.url) ? "chart" : "script");
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const kind = scripts.get(requestId);
    if (kind !== undefined) bytes[kind] += encodedDataLength;
  });
  await session.send("Network.enable");
  return {
    scriptBytes: () => bytes.script,
    chartBytes: () => bytes.chart,
    async settle() {
      for (let seen = -1; pending.size > 0 || seen !== changes; ) {
        seen = changes;
        await page.waitForTimeout(QUIET_MS);
      }
    },
  };
}
