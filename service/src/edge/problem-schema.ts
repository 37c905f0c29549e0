import { Type } from "typebox";
import { PROBLEMS, type ProblemCode } from "./problem.ts";

export type { ProblemCode } from "./problem.ts";

/** The OpenAPI responses of a route that may answer with these problems, grouped by status. */
export function problemResponses(codes: readonly ProblemCode[]): Record<number, object> {
  const responses: Record<number, object> = {};
  for (const [status, group] of Map.groupBy(codes, (code) => PROBLEMS[code].status)) {
    responses[status] = {
      description: group.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(" "),
      content: { "application/problem+json": { schema: problemSchema(status, group) } },
    };
  }
  return responses;
}

function problemSchema(status: number, codes: readonly ProblemCode[]) {
  return Type.Object({
    type: Type.String({ description: "Path of the page that explains this error." }),
    title: Type.String(),
    status: Type.Literal(status),
    detail: Type.String({ description: "A message for people. Do not parse it." }),
    code: Type.Enum([...codes], { description: "For programs. Codes are stable." }),
    requestId: Type.String({ description: "Also in the header X-Request-Id." }),
    ...(status === 400
      ? {
          errors: Type.Optional(
            Type.Array(Type.Object({ field: Type.String(), code: Type.String(), message: Type.String() })),
          ),
        }
      : {}),
    ...(codes.includes("metadata_limit_exceeded")
      ? {
          limit: Type.Optional(
            Type.Enum(["bytes", "keys", "depth"], { description: "Which limit was exceeded." }),
          ),
          max: Type.Optional(Type.Integer()),
          actual: Type.Optional(Type.Integer()),
        }
      : {}),
    ...(codes.includes("idempotency_key_reused")
      ? { conflict: Type.Enum(["payload", "endpoint", "environment"]) }
      : {}),
  });
}
