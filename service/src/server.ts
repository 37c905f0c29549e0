import cookie from "@fastify/cookie";
import Fastify, { type FastifyInstance, LogController } from "fastify";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { admitRuntimeCallers } from "./edge/admit.ts";
import { admitManagers, type ManagerAuthenticator } from "./edge/admit-managers.ts";
import type { ApiKeyCache } from "./edge/api-key-cache.ts";
import type { Certificate } from "./edge/certificate.ts";
import { compileWhenNeeded } from "./edge/compile-schemas.ts";
import { acceptOnlyCsv, isUploading } from "./edge/csv-body.ts";
import { serveDashboard } from "./edge/dashboard.ts";
import { describeApi } from "./edge/docs/describe-api.ts";
import { serveDocs } from "./edge/docs/routes.ts";
import { answerErrors, toProblem } from "./edge/errors.ts";
import { type Readiness, serveHealth } from "./edge/health.ts";
import type { Metrics } from "./edge/metrics.ts";
import { observeRequests } from "./edge/observe.ts";
import { acceptOnlyJson, BODY_BYTES_MAX } from "./edge/parse.ts";
import { replyWithProblem } from "./edge/problem.ts";
import { NO_SNIFF, protectReplies } from "./edge/protect.ts";
import { chooseRequestId } from "./edge/request-id.ts";
import { refuseUnstorableText } from "./edge/storable.ts";
import type { Tracing } from "./edge/tracing.ts";
import { reverseByApiKey } from "./manage/credits/reverse-by-api-key.ts";
import { NAMED_SCHEMAS } from "./manage/named-schemas.ts";
import { toRoute } from "./manage/operation.ts";
import { manageOperations } from "./manage/operations.ts";
import type { ManageParts } from "./manage/parts.ts";
import type { Pool } from "./postgres/pool.ts";
import { VERSION } from "./primitives/version.ts";
import type { Reader } from "./runtime/check/reader.ts";
import { checkRoute } from "./runtime/check/route.ts";
import type { Lanes } from "./runtime/commit/lanes.ts";
import { consumeRoute } from "./runtime/consume/route.ts";
import { readCustomerRoute } from "./runtime/customers/route.ts";
import { batchRoute, countEvents } from "./runtime/events/batch-route.ts";
import { eventsRoute } from "./runtime/events/route.ts";
import { extendHoldRoute, releaseHoldRoute, settleHoldRoute } from "./runtime/holds/change-routes.ts";
import { openHoldRoute } from "./runtime/holds/open-route.ts";
import { listHoldsRoute, readHoldRoute } from "./runtime/holds/read-routes.ts";
import type { FeatureFinder } from "./runtime/missing-feature.ts";
import type { RequestLog } from "./runtime/request-log.ts";
import { reverseRoute } from "./runtime/reversals/route.ts";
import type { Scope } from "./store/control/scopes.ts";

export type ServerParts = {
  readonly config: Pick<Config, "trustProxy" | "publicUrl">;
  /** Null for plain HTTP behind a proxy. */
  readonly certificate: Certificate | null;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Null unless an OTLP endpoint is set. */
  readonly tracing: Tracing | null;
  readonly readiness: Readiness;
  readonly keys: ApiKeyCache;
  readonly lanesOf: (cell: string) => Lanes;
  readonly readerOf: (cell: string) => Reader;
  /** The project's share of the connections for reversals and reads with API keys. */
  readonly cellOf: (caller: Pick<Scope, "cell" | "projectId">) => Pool;
  readonly missingFeature: FeatureFinder;
  readonly requestLog: RequestLog;
  readonly authenticator: ManagerAuthenticator;
  readonly manage: ManageParts;
};

/** Builds the server with all its routes. */
export async function buildServer(parts: ServerParts): Promise<FastifyInstance> {
  const app = createApp(parts);
  acceptOnlyJson(app);
  const { proxies } = parts.manage;
  protectReplies(app, { isTls: parts.certificate !== null, isTrustedProxy: proxies.isTrusted });
  observeRequests(app, parts);
  answerErrors(app, {
    methodsOf: new Map(
      ["check", "consume", "events", "events/batch", "holds"].map((name) => [`/v1/${name}`, "POST"]),
    ),
    publicUrl: parts.config.publicUrl,
  });
  await describeApi(app, { version: VERSION, named: NAMED_SCHEMAS });

  await app.register(async (runtime) => {
    const limitItems = admitRuntimeCallers(runtime, { keys: parts.keys, isTrustedProxy: proxies.isTrusted });
    const { lanesOf, readerOf, missingFeature, requestLog: log } = parts;
    runtime.route({ ...checkRoute({ readerOf, missing: missingFeature }), onResponse: log.observe("check") });
    runtime.route({
      ...consumeRoute({ lanesOf, missing: missingFeature }),
      onResponse: log.observe("consume"),
    });
    const { cellOf } = parts;
    const { idempotencyDays } = parts.manage;
    const reverse = reverseRoute((context, reversal, keyed) =>
      reverseByApiKey({ cell: cellOf(context), idempotencyDays }, context, reversal, keyed),
    );
    runtime.route({ ...reverse, onResponse: log.observe("consume/reverse") });
    runtime.route({ ...eventsRoute(lanesOf), onResponse: log.observe("events") });
    runtime.route({
      ...batchRoute({ lanesOf, publicUrl: parts.config.publicUrl }),
      preHandler: limitItems(countEvents),
      onResponse: log.observe("events/batch"),
    });
    runtime.route({
      ...openHoldRoute({ lanesOf, missing: missingFeature }),
      onResponse: log.observe("holds"),
    });
    runtime.route({ ...extendHoldRoute(lanesOf), onResponse: log.observe("holds/extend") });
    runtime.route({ ...settleHoldRoute(lanesOf), onResponse: log.observe("holds/settle") });
    runtime.route({ ...releaseHoldRoute(lanesOf), onResponse: log.observe("holds/release") });
    runtime.route(readHoldRoute(cellOf));
    runtime.route(listHoldsRoute(cellOf));
    runtime.route(readCustomerRoute({ readerOf, missing: missingFeature }));
  });
  await app.register(async (manage) => {
    await manage.register(cookie);
    refuseUnstorableText(manage);
    admitManagers(manage, { authenticator: parts.authenticator, proxies });
    const operations = manageOperations(parts.manage);
    for (const operation of operations) if (!operation.takesCsv) manage.route(toRoute(operation));
    await manage.register(async (files) => {
      acceptOnlyCsv(files);
      for (const operation of operations) if (operation.takesCsv) files.route(toRoute(operation));
    });
  });
  serveHealth(app, parts.readiness);
  await serveDocs(app);
  await serveDashboard(app);

  await app.ready();
  return app;
}

/** Request headers must arrive within 5 s. Checked every second, because Node checks only every 30 s by default. */
const SLOW_CLIENTS = { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 };

function createApp({ config, certificate, log }: ServerParts): FastifyInstance {
  return Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // No logger per request, because `observe.ts` logs requests, using an allow-list of fields.
    childLoggerFactory: (logger) => logger,
    requestIdHeader: false,
    genReqId: chooseRequestId,
    bodyLimit: BODY_BYTES_MAX,
    // The router applies this limit before decoding. 255 percent-encoded characters of 4 bytes have length 3,060. The default is 100.
    routerOptions: { maxParamLength: 3_072 },
    schemaController: compileWhenNeeded(),
    // Uses the address that a trusted proxy forwards, because failed logins are counted by address.
    trustProxy: [...config.trustProxy],
    requestTimeout: 10_000,
    http: SLOW_CLIENTS,
    forceCloseConnections: "idle",
    // A request that arrives during shutdown is still served. Its connection then closes.
    return503OnClosing: false,
    // Handles URLs that cannot be decoded. They have no route, and do not reach the error handler.
    frameworkErrors: (error, request, reply) =>
      replyWithProblem(
        reply.headers(NO_SNIFF).header("x-request-id", request.id),
        toProblem(error),
        config.publicUrl,
      ),
    clientErrorHandler: (error, socket) => {
      // Processing an upload's rows can take long, so the total timeout does not apply to uploads.
      if ("code" in error && error.code === "ERR_HTTP_REQUEST_TIMEOUT" && isUploading(socket)) return;
      // The data is not valid HTTP, so there is no request to respond to or log.
      const status =
        "code" in error && error.code === "HPE_HEADER_OVERFLOW"
          ? "431 Request Header Fields Too Large"
          : "400 Bad Request";
      if (socket.writable)
        socket.write(
          `HTTP/1.1 ${status}\r\nconnection: close\r\nx-content-type-options: nosniff\r\ncontent-length: 0\r\n\r\n`,
        );
      socket.destroy();
    },
    ajv: {
      customOptions: {
        // Validates what the caller sent, without converting types.
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
      },
      // Times are checked by `parseTimestamp`, which gives a precise error.
      onCreate: (ajv) => ajv.addFormat("date-time", true),
    },
    ...(certificate === null ? {} : { https: { ...SLOW_CLIENTS, ...certificate.options } }),
  }) as unknown as FastifyInstance;
}
