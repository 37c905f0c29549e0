import { ApiProblem } from "./api-problem.ts";

/**
 * Browsers resolve "." and ".." in a path, even if encoded: ending the plan of the customer "." would erase the customer "plan".
 * Such IDs can only be used by clients that send the path unchanged.
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
