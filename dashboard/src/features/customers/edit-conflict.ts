import { ApiProblem } from "../../api/api-problem.ts";
import type { Customer } from "./queries.ts";

/**
 * PUT creates or replaces the whole customer. Throws if a creation would overwrite an existing customer, or an edit would undo
 * a concurrent change. Null means that the customer does not exist.
 */
export function assertNoConflict(opened: Customer | null, now: Customer | null): void {
  if (opened === null && now !== null) {
    throw problem({
      status: 409,
      code: "customer_exists",
      title: "This ID is already in use",
      detail: `${now.name ?? now.customerId} has this ID. Nothing was changed.`,
    });
  }
  if (opened !== null && (now === null || profileOf(opened) !== profileOf(now))) {
    throw problem({
      status: 412,
      code: "changed_meanwhile",
      title: "Edit conflict",
      detail: "Another member changed this customer. Nothing was saved. Reopen the form.",
    });
  }
}

function profileOf({ name, email, billingReference, metadata }: Customer): string {
  return JSON.stringify([name, email, billingReference, metadata]);
}

function problem(fields: { status: number; code: string; title: string; detail: string }): ApiProblem {
  return new ApiProblem({ ...fields, requestId: null, errors: [] });
}
