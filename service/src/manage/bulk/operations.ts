import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import type { Pool } from "../../postgres/pool.ts";
import { assertNever } from "../../primitives/assert.ts";
import { brandAs, type CustomerId, type EnvironmentId } from "../../primitives/brand.ts";
import { unassignablePlan } from "../catalog/problems.ts";
import { Customer } from "../customers/describe-customer.ts";
import { invalidField, nullable, readTime, strictObject, timeField } from "../fields.ts";
import {
  contextOf,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  scopeOf,
} from "../operation.ts";
import { cursorOf, readIdCursor } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { undoOperations } from "../undo/operations.ts";
import { assignInBulk } from "./assign-in-bulk.ts";
import { CHUNK_SIZE } from "./chunks.ts";
import {
  auditEntryId,
  BULK_BODY_BYTES_MAX,
  customerIdsOf,
  eachCustomerOperations,
  NOUN,
} from "./each-customer-operations.ts";
import { CHECKED_MAX, CUSTOMER_IDS_MAX } from "./match-customers.ts";
import { type BulkAssignment, type BulkRefusal, previewAssignments } from "./preview-assignments.ts";
import { callerOf, reportInterruption, Turns } from "./turns.ts";

const PATH = `${ENVIRONMENT_PATH}/bulk-assignments`;

const planField = Type.String({
  minLength: 1,
  maxLength: 120,
  description: "The key of the plan.",
  examples: ["pro"],
});

const assignmentFields = {
  filter: strictObject(
    {
      customerIds: Type.Optional(
        customerIdsOf(
          `Only these customers, at most ${CUSTOMER_IDS_MAX}. Unknown IDs are ignored. Cannot be combined with \`search\` or \`cursor\`.`,
        ),
      ),
      plan: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 120,
          description: "Only customers who currently have this plan.",
          examples: ["free"],
        }),
      ),
      search: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 255,
          description:
            "Searches the ID, name, email and billing reference. Text of one or two characters matches only the beginning.",
          examples: ["acme"],
        }),
      ),
      isBlocked: Type.Optional(Type.Boolean()),
    },
    { description: "Customers must meet all conditions. An empty object matches all customers." },
  ),
  plan: planField,
  endsAt: Type.Optional(nullable(timeField)),
  shorten: Type.Optional(
    Type.Boolean({ description: "Allows an earlier end date for customers who already have the plan." }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: "The `nextCursor` from the previous call.",
      examples: ["WzQyXQ"],
    }),
  ),
};

const matching = Type.Integer({ description: "The number of matching customers.", examples: [1240] });
const unchanged = Type.Integer({
  description: "The number of customers who already have the plan.",
  examples: [40],
});
const wouldShorten = Type.Integer({
  description:
    "The number of customers who are not changed because their plan ends later than `endsAt`, or never. Send `shorten: true` to " +
    "end these plans earlier.",
  examples: [0],
});
const nextCursor = nullable(
  Type.String({
    description: "Send this value as `cursor` to continue. Null if all customers were checked.",
    examples: ["WzQyXQ"],
  }),
);

export function bulkOperations(parts: ManageParts): Operation[] {
  const { cellOf } = parts;
  const turns = new Turns();
  return [
    ...eachCustomerOperations(parts, turns),
    ...undoOperations(parts, turns),
    operation({
      method: "POST",
      path: `${PATH}/preview`,
      access: { role: "operator", in: "environment" },
      id: "previewBulkAssignment",
      noun: NOUN,
      summary: "Preview assigning a plan to many customers",
      description: `Returns what the assignment would change. Checks up to ${CHECKED_MAX} customers, newest first. Writes nothing.`,
      params: Type.Object(environmentParams),
      body: strictObject(assignmentFields),
      bodyBytesMax: BULK_BODY_BYTES_MAX,
      answer: Type.Object({
        matching,
        isExact: Type.Boolean({ description: "True if all customers were checked." }),
        changed: Type.Integer({
          description: "The number of customers whose plan or end date would change.",
          examples: [1200],
        }),
        unchanged,
        wouldShorten,
        sample: Type.Array(Type.Object({ before: Customer, after: Customer }), {
          description:
            "Up to ten matching customers, before and after the change. With `customerIds`, all matching customers.",
        }),
        nextCursor,
      }),
      codes: ["unknown_key", "ends_in_the_past", "overloaded"],
      handle: async (call) => {
        const { environmentId } = scopeOf(call);
        const wanted = readAssignment(call.body);
        const read = () => previewAssignments(cellOf(scopeOf(call)), environmentId, wanted);
        // A preview for few customers is fast, and must succeed even while other workspaces run bulk changes.
        const isShort = (wanted.filter.customerIds?.length ?? Number.POSITIVE_INFINITY) <= CHUNK_SIZE;
        const preview = await (isShort ? read() : turns.take(environmentId, read));
        if (preview.kind !== "preview")
          throw await refuse(preview, cellOf(scopeOf(call)), environmentId, wanted.plan);
        const { kind: _, sample, next, ...counts } = preview;
        const isExact = wanted.before === null && next === null;
        return { ...counts, isExact, sample: [...sample], nextCursor: cursorOf(next) };
      },
    }),
    operation({
      method: "POST",
      path: PATH,
      access: { role: "operator", in: "environment" },
      id: "assignInBulk",
      noun: NOUN,
      summary: "Assign a plan to many customers",
      description:
        "Assigns the plan to all matching customers. Send the body you previewed, with the preview's `matching` value as " +
        "`expectedCount`.\n\n" +
        "- If the number of matching customers has changed by more than 1% (rounded up), nothing is changed.\n" +
        `- The call checks up to ${CHECKED_MAX} customers.\n` +
        "- Safe to repeat: customers who already have the plan are not changed.\n" +
        "- If a customer's plan changes, any scheduled plan change is canceled. An undo does not restore the scheduled change.\n" +
        "- If you disconnect or lose access, the call stops soon after. To continue, preview again.",
      params: Type.Object(environmentParams),
      body: strictObject({
        ...assignmentFields,
        expectedCount: Type.Integer({
          minimum: 0,
          maximum: CHECKED_MAX,
          description: "The value of `matching` in the preview.",
          examples: [1240],
        }),
      }),
      bodyBytesMax: BULK_BODY_BYTES_MAX,
      answer: Type.Object({
        matching,
        changed: Type.Integer({
          description: "The number of customers whose plan or end date was changed.",
          examples: [1200],
        }),
        unchanged,
        wouldShorten,
        skipped: Type.Integer({
          description: "The number of customers who stopped matching before their plan was assigned.",
          examples: [0],
        }),
        nextCursor,
        auditEntryId,
      }),
      codes: ["unknown_key", "ends_in_the_past", "changed_meanwhile", "overloaded"],
      handle: async (call) => {
        const wanted = { ...readAssignment(call.body), expectedCount: call.body.expectedCount };
        const cell = cellOf(scopeOf(call));
        const outcome = await turns.take(scopeOf(call).environmentId, () =>
          reportInterruption(() => assignInBulk(cell, contextOf(call), wanted, callerOf(call))),
        );
        if (outcome.kind === "changed_meanwhile") {
          throw new Problem("changed_meanwhile", {
            detail: `${describeMatching(outcome.matching)} now, not ${wanted.expectedCount}. Preview the assignment again.`,
            extra: { matching: outcome.matching },
          });
        }
        if (outcome.kind !== "assigned")
          throw await refuse(outcome, cell, scopeOf(call).environmentId, wanted.plan);
        const { kind: _, next, ...counts } = outcome;
        return { ...counts, nextCursor: cursorOf(next) };
      },
    }),
  ];
}

type AssignmentBody = {
  filter: { customerIds?: string[]; plan?: string; search?: string; isBlocked?: boolean };
  plan: string;
  endsAt?: string | null;
  shorten?: boolean;
  cursor?: string;
};

function describeMatching(count: number): string {
  return count === 1 ? "1 customer matches" : `${count} customers match`;
}

function readAssignment({ filter, plan, endsAt, shorten = false, cursor }: AssignmentBody): BulkAssignment {
  const { customerIds = null } = filter;
  if (customerIds !== null && (filter.search !== undefined || cursor !== undefined))
    throw invalidField({
      field: "filter.customerIds",
      code: "wrong_form",
      message: "cannot be combined with `search` or `cursor`",
    });
  return {
    filter: {
      customerIds: customerIds?.map((customerId) => brandAs<CustomerId>(customerId)) ?? null,
      plan: filter.plan ?? null,
      search: filter.search ?? null,
      isBlocked: filter.isBlocked ?? null,
    },
    plan,
    endsAt: readTime("endsAt", endsAt),
    shorten,
    before: readIdCursor(cursor),
  };
}

async function refuse(
  { kind }: BulkRefusal,
  cell: Pool,
  environmentId: EnvironmentId,
  plan: string,
): Promise<Problem> {
  switch (kind) {
    case "plan_not_found":
      return unassignablePlan(cell, environmentId, plan);
    case "ends_in_the_past":
      return new Problem("ends_in_the_past", { detail: "`endsAt` must be in the future." });
    default:
      return assertNever(kind);
  }
}
