import { Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { assertNever } from "../../primitives/assert.ts";
import { Customer } from "../customers/describe-customer.ts";
import { nullable, readTime, timeField } from "../fields.ts";
import {
  contextOf,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  scopeOf,
} from "../operation.ts";
import { decodeCursor, encodeCursor } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { assignInBulk } from "./assign-in-bulk.ts";
import { LOOKED_AT_MAX } from "./match-customers.ts";
import { type BulkAssignment, type BulkRefusal, previewAssignments } from "./preview-assignments.ts";
import { callerOf, Turns, tellInterruption } from "./turns.ts";

const NOUN = "Bulk";
const PATH = `${ENVIRONMENT_PATH}/bulk-assignments`;

const planField = Type.String({
  minLength: 1,
  maxLength: 120,
  description: "A plan's key.",
  examples: ["pro"],
});

const assignmentFields = {
  filter: Type.Object(
    {
      plan: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 120,
          description: "Who has this plan now.",
          examples: ["free"],
        }),
      ),
      search: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 255,
          description: "Whose id, name, email or billing reference begins with this.",
          examples: ["acme"],
        }),
      ),
      isBlocked: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false, description: "All of it must hold. Empty: everybody." },
  ),
  plan: planField,
  endsAt: Type.Optional(nullable(timeField)),
  shorten: Type.Optional(
    Type.Boolean({ description: "Allows an earlier end for customers who have the plan already." }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 1000, description: "`nextCursor` of the call before.", examples: ["WzQyXQ"] }),
  ),
};

const matching = Type.Integer({ description: "How many customers match.", examples: [1240] });
const unchanged = Type.Integer({ description: "How many have the plan already.", examples: [40] });
const wouldShorten = Type.Integer({
  description:
    "How many have the plan with a later end or none, and keep it: send `shorten` to end it earlier.",
  examples: [0],
});
const nextCursor = nullable(
  Type.String({
    description: "Null: everybody was looked at. Else send it as `cursor`, to go on.",
    examples: ["WzQyXQ"],
  }),
);

/** One plan for many customers at once. */
export function bulkOperations({ cellOf }: ManageParts): Operation[] {
  const turns = new Turns();
  return [
    operation({
      method: "POST",
      path: `${PATH}/preview`,
      access: { role: "operator", in: "environment" },
      id: "previewBulkAssignment",
      noun: NOUN,
      summary: "See what assigning a plan to many customers would do",
      description: `Looks at up to ${LOOKED_AT_MAX} customers, the newest first, and writes nothing.`,
      params: Type.Object(environmentParams),
      body: Type.Object(assignmentFields, { additionalProperties: false }),
      answer: Type.Object({
        matching,
        isExact: Type.Boolean({ description: "Everybody was looked at, so nobody else matches." }),
        changed: Type.Integer({
          description: "How many would get another plan, or another end of it.",
          examples: [1200],
        }),
        unchanged,
        wouldShorten,
        sample: Type.Array(Type.Object({ before: Customer, after: Customer }), {
          description: "The first ten, before and after.",
        }),
        nextCursor,
      }),
      codes: ["unknown_key", "ends_in_the_past", "overloaded"],
      handle: async (call) => {
        const { cell, environmentId } = scopeOf(call);
        const wanted = readAssignment(call.body);
        const preview = await turns.take(environmentId, () =>
          previewAssignments(cellOf(cell), environmentId, wanted),
        );
        if (preview.kind !== "preview") throw refuse(preview, wanted.plan);
        const { kind: _, sample, next, ...counts } = preview;
        const isExact = wanted.before === null && next === null;
        return { ...counts, isExact, sample: [...sample], nextCursor: toCursor(next) };
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
        "Send what was previewed, and as `expectedCount` how many it found. When about another number of customers matches by now, " +
        `nothing is done. Looks at up to ${LOOKED_AT_MAX} customers. Safe to repeat: who has the plan keeps it as it is. If you ` +
        "hang up or lose your access it stops soon; preview again and go on.",
      params: Type.Object(environmentParams),
      body: Type.Object(
        {
          ...assignmentFields,
          expectedCount: Type.Integer({
            minimum: 0,
            maximum: LOOKED_AT_MAX,
            description: "`matching` of the preview.",
            examples: [1240],
          }),
        },
        { additionalProperties: false },
      ),
      answer: Type.Object({
        matching,
        changed: Type.Integer({
          description: "How many got another plan, or another end of it.",
          examples: [1200],
        }),
        unchanged,
        wouldShorten,
        skipped: Type.Integer({
          description: "How many no longer matched when it was their turn.",
          examples: [0],
        }),
        nextCursor,
      }),
      codes: ["unknown_key", "ends_in_the_past", "changed_meanwhile", "overloaded"],
      handle: async (call) => {
        const wanted = { ...readAssignment(call.body), expectedCount: call.body.expectedCount };
        const cell = cellOf(scopeOf(call).cell);
        const outcome = await turns.take(scopeOf(call).environmentId, () =>
          tellInterruption(() => assignInBulk(cell, contextOf(call), wanted, callerOf(call))),
        );
        if (outcome.kind === "changed_meanwhile") {
          throw new Problem("changed_meanwhile", {
            detail: `${outcome.matching} customers match now, not ${wanted.expectedCount}. Preview it again.`,
            extra: { matching: outcome.matching },
          });
        }
        if (outcome.kind !== "assigned") throw refuse(outcome, wanted.plan);
        const { kind: _, next, ...counts } = outcome;
        return { ...counts, nextCursor: toCursor(next) };
      },
    }),
  ];
}

type AssignmentBody = {
  filter: { plan?: string; search?: string; isBlocked?: boolean };
  plan: string;
  endsAt?: string | null;
  shorten?: boolean;
  cursor?: string;
};

function readAssignment({ filter, plan, endsAt, shorten = false, cursor }: AssignmentBody): BulkAssignment {
  const [before = null] = decodeCursor(cursor, ["number"]) ?? [];
  return {
    filter: {
      plan: filter.plan ?? null,
      search: filter.search ?? null,
      isBlocked: filter.isBlocked ?? null,
    },
    plan,
    endsAt: readTime("endsAt", endsAt),
    shorten,
    before,
  };
}

function toCursor(next: number | null): string | null {
  return next === null ? null : encodeCursor([next]);
}

function refuse({ kind }: BulkRefusal, plan: string): Problem {
  switch (kind) {
    case "plan_not_found":
      return new Problem("unknown_key", { detail: `There is no plan \`${plan}\` in this environment.` });
    case "ends_in_the_past":
      return new Problem("ends_in_the_past", { detail: "`endsAt` lies in the past." });
    default:
      return assertNever(kind);
  }
}
