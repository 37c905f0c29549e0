import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

/** The steps of one request in the service, in milliseconds. */
export type TracedRequest = {
  readonly totalMs: number;
  readonly receive: number;
  readonly queue: number;
  readonly read: number;
  readonly write: number;
  readonly reply: number;
  readonly batchSize: number;
};

type Span = {
  readonly name: string;
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly intValue?: number } }[];
};
type Export = { readonly resourceSpans: readonly { readonly scopeSpans: readonly { spans: Span[] }[] }[] };

/** Longer than the service's export interval. */
const EXPORT_MAX_MS = 10_000;
const POLL_MS = 100;

/** Receives the spans of a service. */
export class Collector {
  readonly environment: Readonly<Record<string, string>>;
  #spans: Span[] = [];

  static async start(stack: AsyncDisposableStack): Promise<Collector> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stack.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    const collector = new Collector((server.address() as AddressInfo).port);
    server.on("request", async (request, response) => {
      const { resourceSpans } = (await json(request)) as Export;
      for (const { scopeSpans } of resourceSpans)
        for (const { spans } of scopeSpans) collector.#spans.push(...spans);
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
    return collector;
  }

  private constructor(port: number) {
    this.environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_TRACES_SAMPLER: "parentbased_always_off",
    };
  }

  /** Waits until this many traces have arrived, and returns the requests that were tried once, by trace ID. */
  async take(traces: number): Promise<ReadonlyMap<string, TracedRequest>> {
    const isRoot = ({ name }: Span): boolean => name.startsWith("POST ");
    for (let waitedMs = 0; waitedMs < EXPORT_MAX_MS; waitedMs += POLL_MS) {
      if (this.#spans.filter(isRoot).length >= traces) break;
      await pause(POLL_MS);
    }
    const spans = this.#spans;
    this.#spans = [];
    const requests = new Map<string, TracedRequest>();
    for (const [traceId, own] of Map.groupBy(spans, (span) => span.traceId)) {
      const request = toRequest(own);
      if (request !== null) requests.set(traceId, request);
    }
    return requests;
  }
}

function toRequest(spans: readonly Span[]): TracedRequest | null {
  const of = (name: string): Span | undefined => spans.find((span) => span.name.startsWith(name));
  const [root, queue, read, write] = [of("POST "), of("queue"), of("read"), of("write")];
  if (spans.length !== 4 || !root || !queue || !read || !write) return null;
  const batchSize = read.attributes.find(({ key }) => key === "purser.batch_size")?.value.intValue ?? 0;
  return {
    totalMs: toMs(root.endTimeUnixNano, root.startTimeUnixNano),
    receive: toMs(queue.startTimeUnixNano, root.startTimeUnixNano),
    queue: toMs(read.startTimeUnixNano, queue.startTimeUnixNano),
    read: toMs(write.startTimeUnixNano, read.startTimeUnixNano),
    write: toMs(write.endTimeUnixNano, write.startTimeUnixNano),
    reply: toMs(root.endTimeUnixNano, write.endTimeUnixNano),
    batchSize,
  };
}

function toMs(end: string, start: string): number {
  return Number(BigInt(end) - BigInt(start)) / 1e6;
}
