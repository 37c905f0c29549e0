import createClient, { defaultPathSerializer } from "openapi-fetch";
import { ApiProblem, readProblem } from "./api-problem.ts";
import type { paths } from "./manage.gen.d.ts";
import { refuseDots } from "./refuse-dots.ts";

/** The management API, as anybody may use it: the dashboard has no private door. */
export const api = createClient<paths>({
  baseUrl: window.location.origin,
  pathSerializer: (path, params) => {
    refuseDots(params);
    return defaultPathSerializer(path, params);
  },
});

const UNREACHABLE = {
  code: "unreachable",
  title: "Purser cannot be reached",
  detail: "Nothing is known about whether it was done. Look, then try again.",
};

const STOPPED = {
  code: "stopped",
  title: "Stopped",
  detail: "What was done until then stands.",
};

type Reply<T> = { data?: T; error?: unknown; response: Response };

/** What the API answered; a problem is thrown, so that pages deal with answers alone. */
export async function answerOf<T>(call: Promise<Reply<T>>): Promise<T> {
  const { data, error, response } = await call.catch((cause: unknown) => {
    if (cause instanceof ApiProblem) throw cause;
    throw new ApiProblem({
      status: 0,
      requestId: null,
      errors: [],
      cause,
      ...(isAbort(cause) ? STOPPED : UNREACHABLE),
    });
  });
  if (!response.ok) throw readProblem(response.status, error);
  // 204: the type says undefined, and so it is.
  return data as T;
}

function isAbort(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === "AbortError";
}
