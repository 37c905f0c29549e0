import { Server as TlsServer } from "node:tls";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { ApiKeyCache } from "./edge/api-key-cache.ts";
import { Certificate } from "./edge/certificate.ts";
import { createHealthServer, listen, Readiness } from "./edge/health.ts";
import { Metrics } from "./edge/metrics.ts";
import { ProxyWatch, UNTRUSTED_PROXY } from "./edge/proxy-watch.ts";
import { catchUpIdle } from "./jobs/catch-up-idle.ts";
import { forgetOldNotices, forgetOldRequests } from "./jobs/forget-old-requests.ts";
import { keepPartitions } from "./jobs/keep-partitions.ts";
import { purgeEndedKeys } from "./jobs/purge-ended-keys.ts";
import { UsageJob } from "./jobs/roll-up-usage.ts";
import { schedule } from "./jobs/schedule.ts";
import { sweepExpiries } from "./jobs/sweep-expiries.ts";
import { finishErasures } from "./manage/customers/erase-customer.ts";
import { createManagerAuthenticator } from "./manage/manager-authenticator.ts";
import { FailedLogIns } from "./manage/people/failed-log-ins.ts";
import { LiveSessions } from "./manage/people/live-sessions.ts";
import { openProvider } from "./manage/single-sign-on/open-provider.ts";
import { countsOf, openPools } from "./pools.ts";
import { UnfitConnection } from "./postgres/own-backend.ts";
import { SharedPool } from "./postgres/pool.ts";
import { Session } from "./postgres/session.ts";
import { findDatabaseTrouble, isOutOfReach } from "./postgres/sql-error.ts";
import { lossyTransaction, single } from "./postgres/transaction.ts";
import { assert } from "./primitives/assert.ts";
import { brandAs, type Instant } from "./primitives/brand.ts";
import { hashSecret } from "./primitives/secret.ts";
import { VERSION } from "./primitives/version.ts";
import { Reader } from "./runtime/check/reader.ts";
import { Lanes } from "./runtime/commit/lanes.ts";
import { findMissingFeature, missingForPeople } from "./runtime/missing-feature.ts";
import { RequestLog } from "./runtime/request-log.ts";
import { sandboxRequest } from "./runtime/sandbox-request.ts";
import { buildServer } from "./server.ts";
import { CatalogCache, shareCatalogs } from "./store/cell/catalogs.ts";
import { listVerifications } from "./store/cell/verifications.ts";
import { findLiveApiKeys, touchApiKeys } from "./store/control/api-keys.ts";
import { Deliverer } from "./webhooks/deliver.ts";

const STARTED_AT = brandAs<Instant>(Math.floor(performance.timeOrigin));
const DATABASE_EVERY_MS = 1_000;
const LAST_USE_EVERY_MS = 10_000;
const FAILED_LOG_INS_EVERY_MS = 10_000;
const CERTIFICATE_EVERY_MS = 5_000;
const SESSION_USES_EVERY_MS = 60_000;
const PARTITIONS_EVERY_MS = 6 * 3_600_000;
const REQUEST_LOG_EVERY_MS = 1_000;
const USAGE_EVERY_MS = 1_000;
const FORGET_EVERY_MS = 5 * 60_000;
const ERASURES_EVERY_MS = 60_000;
const VERIFICATIONS_EVERY_MS = 10_000;
const WEBHOOKS_EVERY_MS = 1_000;
const WEBHOOK_BACKLOG_EVERY_MS = 10_000;
const IDLE_EVERY_MS = 5_000;
/** Interval between two steps of a sweep over a large table. */
const SWEEP_EVERY_MS = 1_000;

export type Service = {
  readonly url: string;
  readonly metricsUrl: string;
  /** Finishes accepted requests, then closes everything. */
  stop(): Promise<void>;
};

/** Starts all parts, and stops them in reverse order. */
export async function startService(config: Config, log: Logger): Promise<Service> {
  const pools = openPools(config.databaseUrl, (error) =>
    log.warn({ err: error }, "an idle database connection broke"),
  );
  const {
    keys: pool,
    manage: managePool,
    jobs: jobPool,
    catalogs: catalogPool,
    webhooks: webhookPool,
  } = pools;
  const startMs = performance.now();
  await keepPartitions(pool);
  const partitions = { name: "partitions", durationMs: performance.now() - startMs, error: null };

  const readiness = new Readiness();
  const metrics = new Metrics({
    queueLengths: () => lanes.queueLengths(),
    bulkQueueLength: () => lanes.bulkQueueLength,
    pools: () => countsOf(pools),
  });
  metrics.job(partitions);
  const catalogs = new CatalogCache((work) => single(catalogPool, work));
  shareCatalogs(catalogs, [catalogPool, managePool, jobPool]);
  const openSession = (name: string) => (connectTimeoutMs: number) =>
    Session.open({ url: config.databaseUrl, name, connectTimeoutMs });
  const onFailure = ({ kind, error }: { kind: string; error: unknown }): void => {
    metrics.batchFailure(kind);
    log.warn({ kind, err: error }, "a batch failed");
  };
  const { idempotencyDays } = config;
  const lanes = new Lanes(config.lanes, {
    idempotencyDays,
    openSession: openSession("lane"),
    catalogs,
    onBatch: (batch) => metrics.batch(batch),
    onFailure,
  });
  const reader = new Reader({ openSession: openSession("reader"), catalogs, onFailure });
  const keys = new ApiKeyCache(
    {
      find: (secrets) => single(pool, (tx) => findLiveApiKeys(tx, secrets.map(hashSecret))),
      touch: (ids) => lossyTransaction(pool, (tx) => touchApiKeys(tx, ids)),
      isOutOfReach,
    },
    { graceMs: config.keyGraceSeconds * 1_000 },
  );
  const requestLog = new RequestLog({
    cellOf: () => managePool,
    onDropped: (why, count) => metrics.dropFromRequestLog(why, count),
  });
  // Loaded only if tracing is on, because OpenTelemetry is a large dependency.
  const tracing =
    config.tracing === null ? null : new (await import("./edge/tracing.ts")).Tracing(config.tracing, log);
  const certificate = config.tls === null ? null : new Certificate(config.tls);
  const failedLogIns = new FailedLogIns(managePool);
  const sessions = new LiveSessions(managePool, config.sessionIdleHours * 3_600, config.signOn ?? undefined);
  const usage = new UsageJob(jobPool);
  const targets = { allowPrivate: config.allowsPrivateWebhooks };
  const deliverer = new Deliverer(webhookPool, targets, {
    onAttempt: (isDelivered) => metrics.webhookAttempt(isDelivered),
    onDisabled: (webhook) => log.warn({ webhook }, "a webhook was disabled: it had failed for five days"),
    onError: (error) => log.warn({ err: error }, "deliveries to a webhook stopped, and start again"),
  });
  const jobs = schedule(
    [
      {
        // Takes one round trip. Also fails on a standby, and behind a pooler that shares connections between transactions.
        name: "database",
        everyMs: DATABASE_EVERY_MS,
        run: () =>
          single(pool, async () => {}).then(
            () => readiness.reachedDatabase(),
            (error: unknown) => {
              if (error instanceof UnfitConnection && error.reason === "newer") readiness.isOutdated = true;
              throw error;
            },
          ),
      },
      { name: "partitions", everyMs: PARTITIONS_EVERY_MS, run: () => keepPartitions(pool) },
      { name: "last use of keys", everyMs: LAST_USE_EVERY_MS, run: () => keys.flushLastUse() },
      {
        name: "failed logins",
        everyMs: FAILED_LOG_INS_EVERY_MS,
        run: () => failedLogIns.flush(performance.now()),
      },
      ...(certificate === null
        ? []
        : [
            {
              name: "certificate",
              everyMs: CERTIFICATE_EVERY_MS,
              run: async () => {
                assert(app.server instanceof TlsServer, "with a certificate the server uses TLS");
                if (certificate.reload(app.server)) log.info("the certificate has changed");
              },
            },
          ]),
      { name: "last use of sessions", everyMs: SESSION_USES_EVERY_MS, run: () => sessions.flush() },
      { name: "request log", everyMs: REQUEST_LOG_EVERY_MS, run: () => requestLog.flush() },
      {
        name: "usage",
        everyMs: USAGE_EVERY_MS,
        run: async () => metrics.usage(await usage.run()),
      },
      { name: "webhooks", everyMs: WEBHOOKS_EVERY_MS, run: () => deliverer.run() },
      {
        name: "webhook backlog",
        everyMs: WEBHOOK_BACKLOG_EVERY_MS,
        run: async () => metrics.webhookBacklog(await deliverer.countDue()),
      },
      { name: "idle customers", everyMs: IDLE_EVERY_MS, run: () => catchUpIdle(jobPool) },
      { name: "old notices", everyMs: FORGET_EVERY_MS, run: () => forgetOldNotices(jobPool) },
      { name: "old requests", everyMs: FORGET_EVERY_MS, run: () => forgetOldRequests(jobPool) },
      {
        name: "verifications",
        everyMs: VERIFICATIONS_EVERY_MS,
        run: async () => metrics.verifications(await single(jobPool, listVerifications)),
      },
      { name: "erasures", everyMs: ERASURES_EVERY_MS, run: () => finishErasures(jobPool) },
      {
        name: "expiries",
        everyMs: SWEEP_EVERY_MS,
        run: async () => metrics.unreadableWallets((await sweepExpiries(jobPool)).unreadable),
      },
      ...(idempotencyDays === null
        ? []
        : [
            {
              name: "ended keys",
              everyMs: SWEEP_EVERY_MS,
              run: () => purgeEndedKeys(jobPool, idempotencyDays),
            },
          ]),
    ],
    (run) => {
      metrics.job(run);
      if (run.name === "database") metrics.database({ isUp: findDatabaseTrouble(run.error) !== "lost" });
      if (run.error !== null) log.warn({ job: run.name, err: run.error }, "a job failed");
    },
  );

  // There is one cell, which contains all projects.
  const forPeople = new SharedPool(managePool);
  const forBackends = new SharedPool(managePool);
  const lanesOf = () => lanes;
  const readerOf = () => reader;
  const missingFeature = findMissingFeature((work) => single(pool, work));
  const stopping = new AbortController();
  const app = await buildServer({
    config,
    certificate,
    log,
    metrics,
    tracing,
    readiness,
    keys,
    lanesOf,
    readerOf,
    cellOf: ({ projectId }) => forBackends.shareOf(projectId),
    missingFeature,
    requestLog,
    authenticator: createManagerAuthenticator(managePool, sessions),
    manage: {
      version: VERSION,
      publicUrl: config.publicUrl,
      startedAt: STARTED_AT,
      idempotencyDays,
      proxies: new ProxyWatch(config.trustProxy, (address) => log.warn({ address }, UNTRUSTED_PROXY)),
      control: managePool,
      failedLogIns,
      sessions,
      signOn: await openProvider(config.signOn),
      cellOf: ({ projectId }) => forPeople.shareOf(projectId),
      cellNamed: () => managePool,
      stopping: stopping.signal,
      webhooks: targets,
      sandboxRequest: sandboxRequest({
        lanesOf,
        readerOf,
        missing: missingForPeople,
        requestLog,
        publicUrl: config.publicUrl,
        onFault: (error, requestId) => log.error({ err: error, requestId }, "request failed"),
      }),
    },
  });
  const health = createHealthServer(readiness, metrics);

  const end = async (): Promise<void> => {
    readiness.isStopping = true;
    stopping.abort();
    const delivered = deliverer.stop().catch(() => {});
    // `close` ends only connections that are idle now. The timer ends all other connections as they become idle.
    const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
    await app.close();
    clearInterval(sweep);
    await Promise.all([lanes.close(), reader.close(), tracing?.close()]);
    jobs.stop();
    await delivered;
    await keys.flushLastUse().catch(() => {});
    await requestLog.flush().catch(() => {});
    await sessions.flush().catch(() => {});
    await failedLogIns.flush(performance.now(), true).catch(() => {});
    await Promise.all(Object.values(pools).map((each) => each.end()));
    await new Promise((resolve) => health.close(resolve));
  };
  let ended: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    ended ??= end();
    return ended;
  };
  try {
    // Opens the public port last, once everything else is ready.
    const metricsUrl = await listen(health, config.metricsHost, config.metricsPort);
    const url = await app.listen({ host: config.host, port: config.port });
    return { url, metricsUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
