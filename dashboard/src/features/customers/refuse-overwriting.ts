import { ApiProblem } from "../../api/api-problem.ts";
import type { Customer } from "./queries.ts";

/**
 * The API's call both makes and changes, and writes the whole of it: who makes a customer must not overwrite another, and who
 * edits one must not undo what somebody else wrote since the form was opened. Null: there is none.
 */
export function refuseOverwriting(opened: Customer | null, now: Customer | null): void {
  if (opened === null && now !== null) {
    throw problem({
      status: 409,
      code: "customer_exists",
      title: "There is a customer with this id",
      detail: `${now.name ?? now.customerId} has it. Nothing was changed; open the customer to edit it.`,
    });
  }
  if (opened !== null && (now === null || profileOf(opened) !== profileOf(now))) {
    throw problem({
      status: 412,
      code: "changed_meanwhile",
      title: "Somebody else changed this customer meanwhile",
      detail:
        "Nothing was saved, so that their change stays. Close this and edit again: you begin with theirs.",
    });
  }
}

function profileOf({ name, email, billingReference, metadata }: Customer): string {
  return JSON.stringify([name, email, billingReference, metadata]);
}

function problem(said: { status: number; code: string; title: string; detail: string }): ApiProblem {
  return new ApiProblem({ ...said, requestId: null, errors: [] });
}
