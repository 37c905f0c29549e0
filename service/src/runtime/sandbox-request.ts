import { internalError } from "../edge/errors.ts";
import { PROBLEMS, Problem, renderProblem } from "../edge/problem.ts";
import type { Scope } from "../store/control/scopes.ts";
import type { Reader } from "./check/reader.ts";
import { answerCheck } from "./check/route.ts";
import type { Lanes } from "./commit/lanes.ts";
import { answerConsume } from "./consume/route.ts";
import type { ConsumeBody } from "./consume/schema.ts";
import type { FeatureFinder } from "./missing-feature.ts";
import type { RequestLog } from "./request-log.ts";
import type { Caller } from "./runtime-route.ts";

type SandboxParts = {
  readonly lanesOf: (cell: string) => Lanes;
  readonly readerOf: (cell: string) => Reader;
  readonly missing: FeatureFinder;
  readonly requestLog: RequestLog;
  readonly publicUrl: string | null;
  readonly onFault: (error: unknown, requestId: string) => void;
};

/** A request to `/v1/check` or `/v1/consume`, without a member or metadata. */
export type Attempt = {
  readonly endpoint: "check" | "consume";
  readonly requestId: string;
  readonly body: Omit<ConsumeBody, "memberId" | "metadata">;
};

/** The response as a backend would receive it. */
export type Reading = { readonly status: number; readonly isReplay: boolean; readonly text: string };

type Noted = Reading & { readonly code: string | null; readonly reason: string | null };

const NO_METADATA: Caller["metadataLimits"] = { bytesMax: 0, keysMax: 0, depthMax: 0 };

/** Runs a request on behalf of a person. The request skips API key authentication. Otherwise, it runs like a backend's request. */
export function sandboxRequest(parts: SandboxParts): (scope: Scope, attempt: Attempt) => Promise<Reading> {
  return async (scope, attempt) => {
    const { endpoint, requestId, body } = attempt;
    const startMs = performance.now();
    const { text, ...noted } = await read(parts, scope, attempt);
    const durationMs = performance.now() - startMs;
    parts.requestLog.note(endpoint, scope, {
      ...noted,
      ...{ requestId, traceId: null, counts: null, body, durationMs },
    });
    return { status: noted.status, isReplay: noted.isReplay, text };
  };
}

async function read(parts: SandboxParts, scope: Scope, attempt: Attempt): Promise<Noted> {
  const { endpoint, requestId, body } = attempt;
  const { environment: environmentKind, ...where } = scope;
  const key: Caller = { ...where, environmentKind, metadataLimits: NO_METADATA, historyDaysMax: null };
  try {
    const answer =
      endpoint === "check"
        ? await answerCheck(parts, { key, span: null }, body)
        : await answerConsume(parts, { key, requestId, span: null }, body);
    return { ...answer, status: 200, code: null };
  } catch (error) {
    if (!(error instanceof Problem)) parts.onFault(error, requestId);
    const problem = error instanceof Problem ? error : internalError();
    const { code } = problem;
    const text = renderProblem(problem, { requestId, publicUrl: parts.publicUrl });
    return { status: PROBLEMS[code].status, isReplay: false, text, code, reason: null };
  }
}
