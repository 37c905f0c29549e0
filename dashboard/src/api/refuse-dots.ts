import { ApiProblem } from "./api-problem.ts";

/**
 * A browser reads "." and ".." in an address as the folder and the one above it, however they are written: ending the plan of the
 * customer "." would erase the customer "plan". Such a one is reached by the API from elsewhere, and never from here.
 */
export function refuseDots(params: Record<string, unknown>): void {
  for (const value of Object.values(params)) {
    if (value !== "." && value !== "..") continue;
    throw new ApiProblem({
      status: 400,
      code: "unreachable_name",
      title: `A browser cannot name "${value}" in an address`,
      detail: "Nothing was asked or done. Use the API from a program that sends the path as it is.",
      requestId: null,
      errors: [],
    });
  }
}
