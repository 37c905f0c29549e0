type FieldError = { readonly field: string; readonly message: string };

type Said = {
  status: number;
  code: string;
  title: string;
  detail: string;
  requestId: string | null;
  errors: readonly FieldError[];
  cause?: unknown;
};

/** A problem that the API answered with, in its own words. */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly requestId: string | null;
  readonly errors: readonly FieldError[];

  constructor({ status, code, title, detail, requestId, errors, cause }: Said) {
    super(detail, { cause });
    this.status = status;
    this.code = code;
    this.title = title;
    this.requestId = requestId;
    this.errors = errors;
  }
}

export function readProblem(status: number, body: unknown): ApiProblem {
  const said = isRecord(body) ? body : {};
  return new ApiProblem({
    status,
    code: textOf(said["code"]) ?? "unknown",
    title: textOf(said["title"]) ?? `The answer was ${status}`,
    detail: textOf(said["detail"]) ?? "Something between you and Purser answered instead of it.",
    requestId: textOf(said["requestId"]),
    errors: Array.isArray(said["errors"]) ? said["errors"].flatMap(readFieldError) : [],
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
