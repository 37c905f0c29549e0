import pino, { type Logger } from "pino";

/** An allow-list: a request or reply is logged by these fields alone, never by its headers or body. */
export type RequestLine = {
  requestId: string;
  method: string;
  route: string;
  status: number;
  durationMs: number;
  projectId?: number;
  environment?: string;
  code?: string;
};

export function openLog(level: string): Logger {
  return pino({
    level,
    base: {},
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: {
      // Fastify hands these over in some of its own lines; nothing of them is ours to keep.
      req: () => undefined,
      res: () => undefined,
      err: describeError,
    },
  });
}

/** A database error also carries `detail`, with the values of a row in it: that stays out. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: "not an error object" };
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  return { type: error.name, message: error.message, stack: error.stack, ...code, ...cause };
}
