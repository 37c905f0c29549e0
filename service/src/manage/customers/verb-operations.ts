import { Type } from "typebox";
import { strictObject } from "../fields.ts";
import { contextOf, type Operation, operation, scopeOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { blockCustomer } from "./block-customer.ts";
import { Customer } from "./describe-customer.ts";
import { eraseCustomer } from "./erase-customer.ts";
import { CUSTOMER_PATH, customerIdOf, customerNotFound, customerParams, readChanged } from "./operations.ts";

const NOUN = "Customers";
const access = { role: "operator", in: "environment" } as const;

/** Blocks and erases customers. */
export function customerVerbOperations(parts: ManageParts): Operation[] {
  return [blocking(parts), erasing(parts)];
}

function blocking({ cellOf }: ManageParts): Operation {
  return operation({
    method: "PUT",
    path: `${CUSTOMER_PATH}/block`,
    access,
    id: "blockCustomer",
    noun: NOUN,
    summary: "Block or unblock a customer",
    description:
      "While a customer is blocked, all checks, charges and requests to open or extend holds are denied. Open holds can still be " +
      "settled, up to the amount that they hold. The customer keeps the plan and credits.",
    params: customerParams,
    body: strictObject({ blocked: Type.Boolean({ examples: [true] }) }),
    answer: Type.Object({ outcome: Type.Enum(["changed", "unchanged"]), customer: Customer }),
    handle: async (call) => {
      const { kind: outcome } = await blockCustomer(cellOf(scopeOf(call)), contextOf(call), {
        customerId: customerIdOf(call),
        isBlocked: call.body.blocked,
      });
      if (outcome === "customer_not_found") throw customerNotFound();
      return { outcome, customer: await readChanged(cellOf, call) };
    },
  });
}

function erasing({ cellOf }: ManageParts): Operation {
  return operation({
    method: "DELETE",
    path: CUSTOMER_PATH,
    access: { role: "admin", in: "environment" },
    id: "eraseCustomer",
    noun: NOUN,
    summary: "Erase a customer",
    description:
      "Permanently erases:\n\n" +
      "- the ID, name, email, billing reference and metadata of the customer\n" +
      "- the members and metadata of all charges, holds, denials and events\n" +
      "- notes and references on credits\n" +
      "- the text of idempotency keys\n\n" +
      "Amounts are kept under an anonymous customer number. You can reuse the ID immediately: later requests with the ID belong to a new " +
      "customer. If the customer has usage events, Purser searches all idempotency keys, which can take minutes. If the call is " +
      "interrupted, Purser finishes the erasure within minutes.",
    params: customerParams,
    answer: Type.Object({ outcome: Type.Enum(["erased"]) }),
    handle: async (call) => {
      const { kind: outcome } = await eraseCustomer(cellOf(scopeOf(call)), contextOf(call), {
        customerId: customerIdOf(call),
      });
      if (outcome === "customer_not_found") throw customerNotFound();
      return { outcome };
    },
  });
}
