import pino, { type Logger } from "pino";

/** An allow-list: only these fields of a request are logged, never headers or bodies. */
export type RequestLine = {
  requestId: string;
  /** From the caller's `traceparent`. */
  traceId?: string;
  method: string;
  route: string;
  status: number;
  durationMs: number;
  projectId?: number;
  environment?: string;
  code?: string;
};

export function openLog(level: string, { stacks = true }: { readonly stacks?: boolean } = {}): Logger {
  return pino({
    level,
    base: {},
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: {
      // Fastify adds these objects to some of its own log lines. They contain headers.
      req: () => undefined,
      res: () => undefined,
      err: (error: unknown) => describeError(error, stacks),
    },
  });
}

/** Omits the `detail` of a database error, which contains row values. */
function describeError(error: unknown, hasStack: boolean): object {
  if (!(error instanceof Error)) return { message: "not an error object" };
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause, hasStack) };
  const stack = hasStack ? { stack: error.stack } : {};
  return { type: error.name, message: error.message, ...stack, ...code, ...cause };
}
