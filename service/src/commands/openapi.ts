import { ApiKeyCache } from "../edge/api-key-cache.ts";
import { Readiness } from "../edge/health.ts";
import { openLog } from "../edge/log.ts";
import { Metrics } from "../edge/metrics.ts";
import { buildServer } from "../server.ts";

/** The contract as the routes themselves state it; needs no database. */
export async function renderOpenApi(): Promise<string> {
  const app = await buildServer({
    config: { trustProxy: [], tls: null },
    log: openLog("silent"),
    metrics: new Metrics(() => []),
    readiness: new Readiness(),
    keys: new ApiKeyCache({ find: async () => null, touch: async () => {} }),
    lanesOf: refuse,
    readerOf: refuse,
    missingFeature: refuse,
  });
  try {
    return JSON.stringify(app.swagger(), null, 2);
  } finally {
    await app.close();
  }
}

function refuse(): never {
  throw new Error("this server only describes itself");
}
