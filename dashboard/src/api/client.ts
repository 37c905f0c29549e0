import createFetchClient, { defaultPathSerializer } from "openapi-fetch";
import createQueryClient from "openapi-react-query";
import { ApiProblem, readProblem } from "./api-problem.ts";
import type { paths } from "./manage.gen.d.ts";
import { refuseDots } from "./refuse-dots.ts";

/** The management API, as anybody may use it: the dashboard has no private API. */
export const api = createFetchClient<paths>({
  baseUrl: window.location.origin,
  fetch: fetchOk,
  pathSerializer: (path, params) => {
    refuseDots(params);
    return defaultPathSerializer(path, params);
  },
});

/** A query of one call, with the key `[method, path, parameters]`. */
export const { queryOptions: queryOf } = createQueryClient(api);

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

/** A problem is thrown, so that pages deal with answers alone. */
async function fetchOk(request: Request): Promise<Response> {
  const response = await fetch(request).catch(throwUnanswered);
  if (response.ok) return response;
  // A body that breaks off leaves the outcome unknown, whatever the status was.
  const text = await response.text().catch(throwUnanswered);
  throw readProblem(response.status, parse(text));
}

/** Null: something else than Purser answered. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The answer of the API. An answer that breaks off is thrown as an unknown outcome. */
export async function answerOf<T>(call: Promise<{ data?: T }>): Promise<T> {
  const { data } = await call.catch(throwUnanswered);
  // 204: the type says undefined, and so it is.
  return data as T;
}

function throwUnanswered(cause: unknown): never {
  if (cause instanceof ApiProblem) throw cause;
  const isStopped = cause instanceof DOMException && cause.name === "AbortError";
  throw new ApiProblem({
    status: 0,
    requestId: null,
    errors: [],
    cause,
    ...(isStopped ? STOPPED : UNREACHABLE),
  });
}

/** What was read, and the `ETag` that names it: sent back as `If-Match`, it keeps two people from undoing each other. */
export type Tagged<T> = { readonly value: T; readonly etag: string };

export async function taggedAnswerOf<T>(
  call: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<Tagged<T>> {
  const value = await answerOf(call);
  const { response } = await call;
  return { value, etag: response.headers.get("etag") ?? "" };
}
