import type { Page, Request } from "playwright-core";

export type Traffic = {
  /** Compressed, as they came over the wire: all scripts so far but charts. */
  scriptBytes(): number;
  /** Those that are drawn when the page is there already. */
  chartBytes(): number;
  /** When nothing that the page asked for is under way. */
  settle(): Promise<void>;
};

const SCRIPTS_AND_CALLS = new Set(["script", "fetch", "xhr"]);
const CHARTS = /\/assets\/(charts|[a-z]+-chart)-[^/]*\.js$/;
/** In which a page that has everything asks for nothing more: an answer leads to the next call at once. */
const QUIET_MS = 50;

/** Watches what a page loads, from before its first request. */
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
