import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { assertNever } from "../primitives/assert.ts";
import { VERSION } from "../primitives/version.ts";
import { readTraceParent } from "./trace-id.ts";
import type { TraceSettings } from "./trace-settings.ts";

// Other files import only types from this file, so that it is loaded only if an endpoint is set. `tidy.test.ts` checks this.

/** Maximum number of finished spans that wait for the collector. Further spans are dropped. */
const QUEUE_LENGTH_MAX = 2_048;
const FLUSH_MAX_MS = 3_000;
/** Health probes are not traced, because on a quiet installation they would make up most of the traces. */
const UNTRACED = new Set(["/livez", "/readyz"]);
/** Methods in OpenTelemetry's HTTP semantic conventions. */
const METHODS = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]);

/** Exports a span over OTLP for each sampled request. Uses no global OpenTelemetry state. */
export class Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;

  constructor(settings: TraceSettings, log: Logger) {
    const exporter = reportOutages(new OTLPTraceExporter({ url: settings.url }), log);
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({ "service.name": "purser", "service.version": VERSION }).merge(
        detectResources({ detectors: [envDetector] }),
      ),
      sampler: createSampler(settings),
      spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize: QUEUE_LENGTH_MAX })],
    });
    this.#tracer = this.#provider.getTracer("purser", VERSION);
  }

  observe(app: FastifyInstance): void {
    app.addHook("onRequest", (request, _reply, done) => {
      request.span = this.#start(request);
      done();
    });
    app.addHook("onResponse", (request, reply, done) => {
      request.span?.end(describeReply(request, reply), reply.statusCode >= 500);
      done();
    });
  }

  /** Sends the remaining spans. Waits at most `FLUSH_MAX_MS`. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise((resolve) => {
      timer = setTimeout(resolve, FLUSH_MAX_MS);
    });
    await Promise.race([this.#provider.shutdown().catch(() => {}), bound]);
    clearTimeout(timer);
  }

  /** Starts the request's span. Null if the request is not sampled. */
  #start(request: FastifyRequest): RequestSpan | null {
    const route = request.routeOptions.url;
    if (route !== undefined && UNTRACED.has(route)) return null;
    const isKnown = METHODS.has(request.method);
    const method = isKnown ? request.method : "HTTP";
    // The route, not the path, because a path can contain a customer's ID.
    const attributes: Attributes = {
      "http.request.method": isKnown ? method : "_OTHER",
      "url.scheme": request.protocol,
      ...(route === undefined ? {} : { "http.route": route }),
    };
    const clock = openClock();
    const span = this.#tracer.startSpan(
      route === undefined ? method : `${method} ${route}`,
      { kind: SpanKind.SERVER, attributes, startTime: clock() },
      parentOf(request),
    );
    return span.isRecording() ? new RequestSpan(this.#tracer, span, clock) : null;
  }
}

/** The span of one request, with a child span for each wait in a queue and each round trip to the database. */
export class RequestSpan {
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #clock: () => number;
  readonly #context: Context;
  #step: Span | null = null;

  constructor(tracer: Tracer, span: Span, clock: () => number) {
    this.#tracer = tracer;
    this.#span = span;
    this.#clock = clock;
    this.#context = trace.setSpan(ROOT_CONTEXT, span);
  }

  enterQueue(): void {
    this.#enter("queue", {});
  }

  /** `batchSize` requests share one transaction or query. */
  enterRead(batchSize: number): void {
    this.#enter("read", { "purser.batch_size": batchSize });
  }

  enterWrite(): void {
    this.#enter("write", {});
  }

  /** Ends the current step. */
  settle(): void {
    this.#step?.end(this.#clock());
    this.#step = null;
  }

  end(attributes: Attributes, isFailure: boolean): void {
    this.settle();
    this.#span.setAttributes(attributes);
    if (isFailure) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end(this.#clock());
  }

  #enter(name: string, attributes: Attributes): void {
    this.settle();
    this.#step = this.#tracer.startSpan(name, { attributes, startTime: this.#clock() }, this.#context);
  }
}

/** Returns milliseconds since 1970. Reads the system clock once per request, so that a clock adjustment cannot shift its spans. */
function openClock(): () => number {
  const anchorMs = Date.now() - performance.now();
  return () => anchorMs + performance.now();
}

function parentOf({ headers }: FastifyRequest): Context {
  const parent = readTraceParent(headers);
  if (parent === null) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = parent;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** Attributes of the response. Never contains customer IDs, metadata, headers or addresses. */
function describeReply({ apiKey, scope }: FastifyRequest, reply: FastifyReply): Attributes {
  const { statusCode: status, problemCode, denialReason } = reply;
  return {
    "http.response.status_code": status,
    ...(status >= 500 ? { "error.type": problemCode ?? String(status) } : {}),
    ...(problemCode === null ? {} : { "purser.problem_code": problemCode }),
    ...(denialReason === null ? {} : { "purser.denial_reason": denialReason }),
    ...(apiKey === null && scope === null
      ? {}
      : {
          "purser.project_id": apiKey?.projectId ?? scope?.projectId,
          "purser.environment": apiKey?.environmentKind ?? scope?.environment,
        }),
  };
}

function createSampler({ sampler, ratio }: TraceSettings): Sampler {
  switch (sampler) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return new TraceIdRatioBasedSampler(ratio);
    case "parentbased_always_on":
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case "parentbased_always_off":
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case "parentbased_traceidratio":
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
    default:
      return assertNever(sampler);
  }
}

/** Logs the first failed export of an outage, and the first success after it. */
function reportOutages(exporter: OTLPTraceExporter, log: Logger): SpanExporter {
  let isFailing = false;
  return {
    export: (spans, onResult) =>
      exporter.export(spans, (result) => {
        const { error = null } = result;
        if (error !== null && !isFailing)
          log.warn({ reason: error.message }, "spans cannot be exported, but requests are still served");
        if (error === null && isFailing) log.info("span export has resumed");
        isFailing = error !== null;
        onResult(result);
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}
