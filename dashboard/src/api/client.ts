import createFetchClient, { defaultPathSerializer } from "openapi-fetch";
import createQueryClient from "openapi-react-query";
import { ApiProblem, readProblem } from "./api-problem.ts";
import type { paths } from "./manage.gen.d.ts";
import { rejectDotSegments } from "./reject-dot-segments.ts";

/** The public management API. The dashboard has no private API. */
export const api = createFetchClient<paths>({
  baseUrl: window.location.origin,
  fetch: fetchOk,
  pathSerializer: (path, params) => {
    rejectDotSegments(params);
    return defaultPathSerializer(path, params);
  },
});

/** Query options for one call, with the key `[method, path, parameters]`. */
export const { queryOptions: queryOf } = createQueryClient(api);

const UNREACHABLE = { code: "unreachable", title: "Purser cannot be reached" };
const RETRY_READ = "Check your connection and retry.";
const OUTCOME_UNKNOWN = "The outcome is unknown. Check the current state before you retry.";

const STOPPED = {
  code: "stopped",
  title: "Stopped",
  detail: "Changes made before you stopped are kept.",
};

/** Throws on an error response, so that callers handle successful responses only. */
async function fetchOk(request: Request): Promise<Response> {
  const fail = (cause: unknown): never => throwUnanswered(cause, request.method === "GET");
  const response = await fetch(request).catch(fail);
  // Read the body here, so that a truncated body is reported as a lost connection, whatever the status.
  const body = await response.blob().catch(fail);
  if (!response.ok) throw readProblem(response.status, parse(await body.text()));
  return response.status === 204 ? response : new Response(body, response);
}

/** Parses a response body. Null if it is not JSON, for example a proxy's error page. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns the response body of a call. If the response is truncated, throws an error that says the outcome is unknown. */
export async function answerOf<T>(call: Promise<{ data?: T }>): Promise<T> {
  const { data } = await call.catch((cause: unknown) => throwUnanswered(cause));
  // With status 204, T is undefined.
  return data as T;
}

function throwUnanswered(cause: unknown, isRead = false): never {
  if (cause instanceof ApiProblem) throw cause;
  const isStopped = cause instanceof DOMException && cause.name === "AbortError";
  throw new ApiProblem({
    status: 0,
    requestId: null,
    errors: [],
    cause,
    ...(isStopped ? STOPPED : { ...UNREACHABLE, detail: isRead ? RETRY_READ : OUTCOME_UNKNOWN }),
  });
}

/** A resource and its `ETag`. Sent as `If-Match`, the tag prevents lost updates. */
export type Tagged<T> = { readonly value: T; readonly etag: string };

export async function taggedAnswerOf<T>(
  call: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<Tagged<T>> {
  const value = await answerOf(call);
  const { response } = await call;
  return { value, etag: response.headers.get("etag") ?? "" };
}
