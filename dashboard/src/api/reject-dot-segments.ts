import { ApiProblem } from "./api-problem.ts";

/**
 * Browsers resolve "." and ".." in a path, even if encoded: `DELETE …/customers/./plan` would become `DELETE …/customers/plan`
 * and erase the customer "plan". Only clients that send the path unchanged can use these IDs.
 */
export function rejectDotSegments(params: Record<string, unknown>): void {
  for (const value of Object.values(params)) {
    if (value !== "." && value !== "..") continue;
    throw new ApiProblem({
      status: 400,
      code: "unreachable_name",
      title: `A browser cannot send the ID "${value}"`,
      detail: "No request was sent. Send the API call with curl instead.",
      requestId: null,
      errors: [],
    });
  }
}
