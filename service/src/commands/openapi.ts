import { ApiKeyCache } from "../edge/api-key-cache.ts";
import { Readiness } from "../edge/health.ts";
import { openLog } from "../edge/log.ts";
import { Metrics } from "../edge/metrics.ts";
import { RequestLog } from "../runtime/request-log.ts";
import { buildServer } from "../server.ts";
import { placeholderParts, refuse } from "./placeholder-parts.ts";

/** Renders the OpenAPI document from the route schemas. Needs no database. */
export async function renderOpenApi(api: "runtime" | "manage"): Promise<string> {
  const app = await buildServer({
    config: { trustProxy: [], publicUrl: null },
    certificate: null,
    log: openLog("silent"),
    metrics: new Metrics(),
    tracing: null,
    readiness: new Readiness(),
    keys: new ApiKeyCache(
      { find: async () => new Map(), touch: async () => {}, isOutOfReach: () => false },
      { graceMs: 0 },
    ),
    lanesOf: refuse,
    readerOf: refuse,
    cellOf: refuse,
    missingFeature: refuse,
    requestLog: new RequestLog({ cellOf: refuse, onDropped: refuse }),
    authenticator: { findSession: refuse, findToken: refuse, findScope: refuse },
    manage: placeholderParts(),
  });
  try {
    return JSON.stringify(api === "runtime" ? app.swagger() : app.manageSwagger(), null, 2);
  } finally {
    await app.close();
  }
}
