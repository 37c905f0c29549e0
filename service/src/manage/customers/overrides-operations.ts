import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { assertNever } from "../../primitives/assert.ts";
import { invalidField, readTime, strictObject } from "../fields.ts";
import { contextOf, type Operation, operation, scopeOf } from "../operation.ts";
import { pageOf, pageQuery, readIdCursor, readLimit, toPage } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { Customer } from "./describe-customer.ts";
import { CUSTOMER_PATH, customerIdOf, customerNotFound, customerParams, readChanged } from "./operations.ts";
import {
  listSetOverrides,
  OverridesBody,
  SetOverrides,
  type SetOverridesOutcome,
  setOverrides,
} from "./overrides.ts";

/** Sets and lists overrides, which are terms that apply to only one customer. */
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
      "Sets terms that apply to one customer and take precedence over any plan: included features, costs, limits, allowance credits " +
      "and overage. Replaces all earlier overrides. `{}` removes all overrides. At most 50 features and 50 allowances. Safe to " +
      "repeat.\n\n" +
      "- Changes to allowance credits apply from the next period. All other changes apply from the next request.\n" +
      "- If an earlier override or plan limit has the same period, a new limit includes the usage already counted. Otherwise, the new " +
      "limit starts at 0.\n" +
      "- An override limit keeps its count when the plan changes. Usage also counts toward the plan's limit.",
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
      const outcome = await setOverrides(cellOf(scopeOf(call)), contextOf(call), {
        customerId: customerIdOf(call),
        terms,
        endsAt: readTime("endsAt", endsAt) ?? null,
      });
      if (outcome.kind !== "changed" && outcome.kind !== "unchanged") throw refuse(outcome);
      return { outcome: outcome.kind, customer: await readChanged(cellOf, call) };
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
    description:
      "Lists the current and all earlier overrides, newest first. Each entry replaced all earlier overrides.",
    params: customerParams,
    query: strictObject(pageQuery),
    answer: pageOf(SetOverrides),
    handle: async (call) => {
      const { environmentId } = scopeOf(call);
      const { cursor, limit } = call.query;
      const page = { before: readIdCursor(cursor), limit: readLimit(limit) };
      const found = await listSetOverrides(
        cellOf(scopeOf(call)),
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
