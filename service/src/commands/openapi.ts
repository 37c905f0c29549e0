import { ApiKeyCache } from "../edge/api-key-cache.ts";
import { Readiness } from "../edge/health.ts";
import { openLog } from "../edge/log.ts";
import { Metrics } from "../edge/metrics.ts";
import { ProxyWatch } from "../edge/proxy-watch.ts";
import { FailedLogIns } from "../manage/people/failed-log-ins.ts";
import { LiveSessions } from "../manage/people/live-sessions.ts";
import { openPool } from "../postgres/pool.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { VERSION } from "../primitives/version.ts";
import { RequestLog } from "../runtime/request-log.ts";
import { buildServer } from "../server.ts";

/** Renders the OpenAPI document from the route schemas. Needs no database. */
export async function renderOpenApi(api: "runtime" | "manage"): Promise<string> {
  const control = openPool({ ...NOWHERE, onIdleError: () => {} });
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
    missingFeature: refuse,
    requestLog: new RequestLog({ cellOf: refuse, onDropped: refuse }),
    authenticator: { findSession: refuse, findToken: refuse, findScope: refuse },
    manage: {
      version: VERSION,
      startedAt: brandAs<Instant>(0),
      idempotencyDays: null,
      proxies: new ProxyWatch([], () => {}),
      control,
      failedLogIns: new FailedLogIns(control),
      sessions: new LiveSessions(control, 3_600),
      cellOf: refuse,
      cellNamed: refuse,
      stopping: new AbortController().signal,
      sandboxRequest: refuse,
    },
  });
  try {
    return JSON.stringify(api === "runtime" ? app.swagger() : app.manageSwagger(), null, 2);
  } finally {
    await app.close();
  }
}

/** A placeholder. No connection is opened, because no route is called. */
const NOWHERE = { url: "postgres://localhost:1/none", name: "command", sizeMax: 1 };

function refuse(): never {
  throw new Error("this server only renders its OpenAPI document");
}
