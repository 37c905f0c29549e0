import type { FastifySchemaValidationError } from "fastify";
import type { FieldError } from "./problem.ts";

/** Maximum number of errors in a response. More errors would not help, and a hostile body must not cause a large response. */
const ERRORS_MAX = 10;
const NAME_LENGTH_MAX = 120;

export const VISIBLE_ASCII = "^[\\x21-\\x7e]*$";
/** Patterns for numbers in query parameters, which are always strings. */
export const UP_TO_100 = "^([1-9]\\d?|100)$";
export const UP_TO_200 = "^([1-9]\\d?|1\\d\\d|200)$";

/** Messages for schema patterns. */
const PATTERNS: Readonly<Record<string, string>> = {
  [VISIBLE_ASCII]: "must contain only visible ASCII characters, without spaces",
  [UP_TO_100]: "must be a number from 1 to 100",
  [UP_TO_200]: "must be a number from 1 to 200",
};

/** Hints for fields that are often sent in the wrong place. */
const REQUIRED: Readonly<Record<string, string>> = {
  idempotencyKey: "is required in the body; an Idempotency-Key header is ignored",
};

/** Converts the validator's errors to API errors. Each error has a field, a code for programs and a message for people. */
export function toFieldErrors(found: readonly FastifySchemaValidationError[]): FieldError[] {
  return found.slice(0, ERRORS_MAX).map(toFieldError);
}

function toFieldError(error: FastifySchemaValidationError): FieldError {
  const { keyword, instancePath, params } = error;
  const field = instancePath.slice(1).replaceAll("/", ".");
  switch (keyword) {
    case "required": {
      const missing = String(params["missingProperty"]);
      return { field: within(field, missing), code: "required", message: REQUIRED[missing] ?? "is required" };
    }
    case "additionalProperties":
      return {
        field: within(field, String(params["additionalProperty"]).slice(0, NAME_LENGTH_MAX).toWellFormed()),
        code: "unknown_field",
        message: "is not a field of this request",
      };
    case "type":
      return { field, code: "wrong_type", message: `must be ${article(String(params["type"]))}` };
    case "minLength":
      return {
        field,
        code: "too_short",
        message:
          params["limit"] === 1 ? "must not be empty" : `must have at least ${params["limit"]} characters`,
      };
    case "maxLength":
      return { field, code: "too_long", message: `must have at most ${params["limit"]} characters` };
    case "minimum":
      return { field, code: "too_small", message: `must be at least ${params["limit"]}` };
    case "maximum":
      return { field, code: "too_large", message: `must be at most ${params["limit"]}` };
    case "minItems":
      return { field, code: "too_short", message: `must have at least ${items(params["limit"])}` };
    case "maxItems":
      return { field, code: "too_long", message: `must have at most ${items(params["limit"])}` };
    case "enum":
      return {
        field,
        code: "wrong_form",
        message: `must be one of ${(params["allowedValues"] as readonly unknown[]).join(", ")}`,
      };
    case "pattern":
      return {
        field,
        code: "wrong_form",
        message: PATTERNS[String(params["pattern"])] ?? "has the wrong format",
      };
    default:
      return { field, code: "wrong_form", message: error.message ?? "is not valid" };
  }
}

function within(object: string, member: string): string {
  return object === "" ? member : `${object}.${member}`;
}

function items(count: unknown): string {
  return count === 1 ? "1 item" : `${count} items`;
}

function article(type: string): string {
  return `${/^[aeio]/.test(type) ? "an" : "a"} ${type}`;
}
