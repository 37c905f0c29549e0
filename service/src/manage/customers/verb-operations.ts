import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { keyField, nullable, readTime } from "../fields.ts";
import { contextOf, type Operation, operation, placeOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { assignPlan } from "./assign-plan.ts";
import { blockCustomer } from "./block-customer.ts";
import { Customer } from "./describe-customer.ts";
import { endPlan } from "./end-plan.ts";
import { eraseCustomer } from "./erase-customer.ts";
import {
  CUSTOMER_PATH,
  customerIdOf,
  customerNotFound,
  customerParams,
  readOrNotFound,
} from "./operations.ts";

const NOUN = "Customers";
const access = { role: "operator", in: "environment" } as const;

const AssignmentBody = Type.Object(
  {
    plan: keyField,
    anchor: Type.Optional(
      nullable(
        Type.String({
          format: "date-time",
          description: "Where periods are counted from; by default now.",
          examples: ["2026-11-15T00:00:00Z"],
        }),
      ),
    ),
    endsAt: Type.Optional(
      nullable(
        Type.String({
          format: "date-time",
          description: "Null: no end. Left out: an end that is already set stays.",
          examples: ["2026-12-15T00:00:00Z"],
        }),
      ),
    ),
  },
  { additionalProperties: false },
);

/** What is done to a customer, but for credits. */
export function customerVerbOperations(parts: ManageParts): Operation[] {
  return [assigning(parts), ending(parts), blocking(parts), erasing(parts)];
}

function assigning({ cellOf }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: `${CUSTOMER_PATH}/plan`,
    access,
    id: "assignPlan",
    noun: NOUN,
    summary: "Assign a plan",
    description:
      "Safe to repeat: the plan that is active already is left as it is, except that a later `endsAt` extends it. Another plan " +
      "starts now; what is left of the old allowance ends, and purchased credits stay. A customer nobody knows yet is made.",
    params: customerParams,
    body: AssignmentBody,
    answer: Type.Object({ outcome: Type.Enum(["changed", "unchanged"]), customer: Customer }),
    codes: ["unknown_key", "ends_in_the_past"],
    handle: async (call) => {
      const { plan, anchor, endsAt } = call.body;
      const { kind: outcome } = await assignPlan(cellOf(placeOf(call).cell), contextOf(call), {
        customerId: customerIdOf(call),
        plan,
        anchor: readTime("anchor", anchor) ?? null,
        endsAt: readTime("endsAt", endsAt),
      });
      if (outcome === "plan_not_found") {
        throw new Problem("unknown_key", { detail: `There is no plan \`${plan}\` in this environment.` });
      }
      if (outcome === "plan_archived") {
        throw new Problem("unknown_key", {
          detail: `The plan \`${plan}\` is archived, and no longer assigned.`,
        });
      }
      if (outcome === "ends_in_the_past") {
        throw new Problem("ends_in_the_past", { detail: "`endsAt` must lie in the future." });
      }
      return { outcome, customer: await readOrNotFound(cellOf, call) };
    },
  });
}

function ending({ cellOf }: ManageParts): Operation {
  return operation({
    method: "DELETE",
    path: `${CUSTOMER_PATH}/plan`,
    access,
    id: "endPlan",
    noun: NOUN,
    summary: "End a customer's plan",
    description:
      "Now, and safe to repeat. What is left of the allowance ends, purchased credits stay, and the environment's default plan " +
      "takes over if there is one.",
    params: customerParams,
    answer: Type.Object({ outcome: Type.Enum(["ended", "no_assignment"]), customer: Customer }),
    codes: [],
    handle: async (call) => {
      const { kind: outcome } = await endPlan(cellOf(placeOf(call).cell), contextOf(call), {
        customerId: customerIdOf(call),
      });
      if (outcome === "customer_not_found") throw customerNotFound();
      return { outcome, customer: await readOrNotFound(cellOf, call) };
    },
  });
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
      "Who is blocked is denied everything from the next request on, and keeps all that is theirs.",
    params: customerParams,
    body: Type.Object({ blocked: Type.Boolean({ examples: [true] }) }, { additionalProperties: false }),
    answer: Type.Object({ outcome: Type.Enum(["changed", "unchanged"]), customer: Customer }),
    codes: [],
    handle: async (call) => {
      const { kind: outcome } = await blockCustomer(cellOf(placeOf(call).cell), contextOf(call), {
        customerId: customerIdOf(call),
        isBlocked: call.body.blocked,
      });
      if (outcome === "customer_not_found") throw customerNotFound();
      return { outcome, customer: await readOrNotFound(cellOf, call) };
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
      "For ever: the id, name, email, billing reference and metadata, the metadata of everything they did, notes and references of " +
      "their credits, and the text of their idempotency keys. Amounts stay, under a number that leads to nobody. It looks " +
      "through all usage events since the customer was made, and may take minutes where there are very many; if the answer is lost, ask " +
      "again under the same id, and it goes on. Until it is done the customer is blocked.",
    params: customerParams,
    answer: Type.Object({ outcome: Type.Enum(["erased"]) }),
    codes: [],
    handle: async (call) => {
      const { kind: outcome } = await eraseCustomer(cellOf(placeOf(call).cell), contextOf(call), {
        customerId: customerIdOf(call),
      });
      if (outcome === "customer_not_found") throw customerNotFound();
      return { outcome };
    },
  });
}
