import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { assertNever } from "../../primitives/assert.ts";
import { invalidField, readTime, strictObject } from "../fields.ts";
import { contextOf, type Operation, operation, scopeOf } from "../operation.ts";
import { pageOf, pageQuery, readIdCursor, readLimit, toPage } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { Customer } from "./describe-customer.ts";
import {
  CUSTOMER_PATH,
  customerIdOf,
  customerNotFound,
  customerParams,
  readOrNotFound,
} from "./operations.ts";
import {
  listSetOverrides,
  OverridesBody,
  SetOverrides,
  type SetOverridesOutcome,
  setOverrides,
} from "./overrides.ts";

/** Sets and lists customers' own terms (overrides). */
export function customerOverridesOperations(parts: ManageParts): Operation[] {
  return [setting(parts), listing(parts)];
}

function setting({ cellOf }: ManageParts): Operation {
  return operation({
    method: "PUT",
    path: `${CUSTOMER_PATH}/overrides`,
    access: { role: "operator", in: "environment" },
    id: "setOverrides",
    noun: "Customers",
    summary: "Set a customer's overrides",
    description:
      "Gives the customer their own terms, whatever plan they have: features that are included or not, costs, limits and the credits of " +
      "allowances. Replaces all earlier overrides; `{}` removes them. Features change from the next request, and allowances from their " +
      "next period. If the plan's limit has the same period, the new limit starts with the usage already counted; otherwise it starts at " +
      "0. It keeps its count when the plan changes. Usage still counts toward the plan's limit too. At most 50 features and 50 " +
      "allowances. Safe to repeat.",
    params: customerParams,
    body: OverridesBody,
    answer: Type.Object({ outcome: Type.Enum(["changed", "unchanged"]), customer: Customer }),
    codes: ["unknown_key", "ends_in_the_past", "upgrade_unfinished"],
    handle: async (call) => {
      const { endsAt, ...terms } = call.body;
      if (endsAt != null && isEmpty(terms)) {
        const message = "needs `features` or `allowances`: there is nothing to end";
        throw invalidField({ field: "endsAt", code: "wrong_form", message });
      }
      const outcome = await setOverrides(cellOf(scopeOf(call).cell), contextOf(call), {
        customerId: customerIdOf(call),
        terms,
        endsAt: readTime("endsAt", endsAt) ?? null,
      });
      if (outcome.kind !== "changed" && outcome.kind !== "unchanged") throw refuse(outcome);
      return { outcome: outcome.kind, customer: await readOrNotFound(cellOf, call) };
    },
  });
}

function listing({ cellOf }: ManageParts): Operation {
  return operation({
    method: "GET",
    path: `${CUSTOMER_PATH}/overrides`,
    access: { role: "viewer", in: "environment" },
    id: "listOverrides",
    noun: "Customers",
    summary: "List a customer's overrides",
    description: "All overrides that were ever set, newest first. Each one replaced the previous one.",
    params: customerParams,
    query: strictObject(pageQuery),
    answer: pageOf(SetOverrides),
    handle: async (call) => {
      const { cell, environmentId } = scopeOf(call);
      const { cursor, limit } = call.query;
      const page = { before: readIdCursor(cursor), limit: readLimit(limit) };
      const found = await listSetOverrides(
        cellOf(cell),
        { environmentId, customerId: customerIdOf(call) },
        page,
      );
      if (found === null) throw customerNotFound();
      return toPage(found.items, found.next);
    },
  });
}

function refuse(outcome: Exclude<SetOverridesOutcome, { kind: "changed" | "unchanged" }>): Problem {
  switch (outcome.kind) {
    case "customer_not_found":
      return customerNotFound();
    case "ends_in_the_past":
      return new Problem("ends_in_the_past", { detail: "`endsAt` must be in the future." });
    case "feature_archived":
      return new Problem("unknown_key", {
        detail: `The \`${outcome.feature}\` feature is archived and can no longer be included.`,
      });
    case "period_unknown":
      return invalidField({
        field: `allowances.${outcome.pool}.period`,
        code: "missing",
        message: "is required, because the customer's plan has no allowance in this pool",
      });
    default:
      return assertNever(outcome);
  }
}

function isEmpty({ features = {}, allowances = {} }: Omit<OverridesBody, "endsAt">): boolean {
  return Object.keys(features).length === 0 && Object.keys(allowances).length === 0;
}
