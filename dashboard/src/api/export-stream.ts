import type { Scope } from "./answer.ts";
import { ApiProblem, readProblem } from "./api-problem.ts";
import { callOf } from "./use-write.ts";

type ExportKind = "events" | "charges" | "ledger" | "grants";
export type ExportFormat = "csv" | "ndjson";

export type ExportOrder = {
  readonly scope: Scope;
  readonly kind: ExportKind;
  readonly format: ExportFormat;
  readonly from: string | null;
  readonly to: string | null;
};

type ExportStream = {
  readonly rowsEstimate: number;
  readonly asOf: string | null;
  readonly windowStart: string | null;
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
};

/** API path of an export. With a cursor, the export resumes after that row. */
export function pathOfExport({ scope, kind, format, from, to }: ExportOrder, cursor?: string): string {
  const query = {
    format,
    ...(from === null ? {} : { from }),
    ...(to === null ? {} : { to }),
    ...(cursor === undefined ? {} : { cursor }),
  };
  return callOf("get", `/manage/v1/projects/{projectId}/{environment}/exports/${kind}`, {
    params: { path: scope, query },
  }).path;
}

/** Streams an export. Uses fetch directly because the API client buffers whole responses. */
export async function openExport(path: string, signal: AbortSignal): Promise<ExportStream> {
  const response = await fetch(path, { signal });
  if (!response.ok) throw readProblem(response.status, await response.json().catch(() => null));
  const { headers, body } = response;
  if (body === null) throw interrupted();
  const windowStart = headers.get("purser-window-start");
  return {
    rowsEstimate: Number(headers.get("purser-rows-estimate") ?? 0),
    asOf: headers.get("purser-export-as-of"),
    windowStart: windowStart === "none" ? null : windowStart,
    body,
  };
}

export function interrupted(cause?: unknown): ApiProblem {
  return new ApiProblem({
    status: 0,
    code: "interrupted",
    title: "The transfer was interrupted",
    detail: "The rows received so far are kept. Resume to download the other rows.",
    requestId: null,
    errors: [],
    cause,
  });
}
