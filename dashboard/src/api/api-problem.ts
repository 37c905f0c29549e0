type FieldError = { readonly field: string; readonly message: string };

type ProblemFields = {
  status: number;
  code: string;
  title: string;
  detail: string;
  requestId: string | null;
  errors: readonly FieldError[];
  body?: Readonly<Record<string, unknown>>;
  cause?: unknown;
};

/** An error response from the API, with its title and detail. */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly requestId: string | null;
  readonly errors: readonly FieldError[];
  /** The whole response, for members that only some errors have. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor({ status, code, title, detail, requestId, errors, body = {}, cause }: ProblemFields) {
    super(detail, { cause });
    this.status = status;
    this.code = code;
    this.title = title;
    this.requestId = requestId;
    this.errors = errors;
    this.body = body;
  }
}

export function readProblem(status: number, body: unknown): ApiProblem {
  const fields = isRecord(body) ? body : {};
  return new ApiProblem({
    status,
    code: textOf(fields["code"]) ?? "unknown",
    title: textOf(fields["title"]) ?? `Unexpected status ${status}`,
    detail: textOf(fields["detail"]) ?? "A proxy or gateway responded instead of Purser.",
    requestId: textOf(fields["requestId"]),
    errors: Array.isArray(fields["errors"]) ? fields["errors"].flatMap(readFieldError) : [],
    body: fields,
  });
}

function readFieldError(entry: unknown): FieldError[] {
  if (!isRecord(entry)) return [];
  const [field, message] = [textOf(entry["field"]), textOf(entry["message"])];
  return field === null || message === null ? [] : [{ field, message }];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
