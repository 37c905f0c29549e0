import { createHash } from "node:crypto";
import { type Static, Type } from "typebox";
import { Problem } from "../../edge/problem.ts";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type CustomerId } from "../../primitives/brand.ts";
import { findGrantsByReferences } from "../../store/cell/grants.ts";
import { addCredits, CreditsBody, explainRefusal, readCredits } from "../credits/add-credits.ts";
import { blockCustomer } from "../customers/block-customer.ts";
import { customerNotFound } from "../customers/operations.ts";
import { nullable, strictObject, timeOrNull } from "../fields.ts";
import {
  type Call,
  contextOf,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  scopeOf,
} from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { changeEach, type EachOutcome } from "./each-customer.ts";
import { CUSTOMER_IDS_MAX } from "./match-customers.ts";
import { callerOf, reportInterruption, type Turns } from "./turns.ts";

export const NOUN = "Bulk";
/** Enough for CUSTOMER_IDS_MAX long IDs. */
export const BULK_BODY_BYTES_MAX = 2 * 1024 * 1024;
const access = { role: "operator", in: "environment" } as const;
const REFERENCE_MAX = 200;
/** Errors that apply to every customer in the call. */
const FOR_ALL = ["unknown_key", "ends_in_the_past"] as const;

export function customerIdsOf(description: string) {
  return Type.Array(Type.String({ minLength: 1, maxLength: 255, examples: ["customer_42"] }), {
    minItems: 1,
    maxItems: CUSTOMER_IDS_MAX,
    uniqueItems: true,
    description,
  });
}

export const auditEntryId = nullable(
  Type.String({
    description:
      "The ID of the audit entry for the change. Use it to undo the change. Null if nothing changed.",
    examples: ["01998f3e-6a10-7c3d-9f25-3d1c5a7b9e00"],
  }),
);

const customerIds = customerIdsOf(`At most ${CUSTOMER_IDS_MAX} customers.`);

const reference = Type.String({
  minLength: 1,
  maxLength: REFERENCE_MAX,
  pattern: "^(?!erased:)",
  description:
    "Identifies the change, so that each customer receives the credits only once. Each grant gets this reference plus a suffix.",
  examples: ["outage-2026-11"],
});

export const BulkResult = Type.Object({
  changed: Type.Integer({ description: "The number of customers who were changed.", examples: [40] }),
  unchanged: Type.Integer({
    description: "The number of customers who already had these credits or this block status.",
    examples: [0],
  }),
  refused: Type.Array(
    Type.Object({
      customerId: Type.String({ examples: ["customer_42"] }),
      code: Type.String({ description: "The error code.", examples: ["too_many_grants"] }),
      detail: Type.String({
        description: "A human-readable message.",
        examples: ["There is no such customer in this environment."],
      }),
    }),
    { description: "Customers for whom the change failed, for example because they do not exist." },
  ),
  auditEntryId,
});

const HOW =
  "Each customer is changed in a separate transaction. If you disconnect or lose access, the call stops soon after. To finish, send " +
  "the same call again. To undo the whole change, use its audit entry.";

/** Adds credits to many customers, or blocks them. */
export function eachCustomerOperations(parts: ManageParts, turns: Turns): Operation[] {
  return [addingCredits(parts, turns), previewingCredits(parts), blocking(parts, turns)];
}

function addingCredits({ cellOf }: ManageParts, turns: Turns): Operation {
  const { price: _, reference: __, ...fields } = CreditsBody.properties;
  return operation({
    method: "POST",
    path: `${ENVIRONMENT_PATH}/bulk-credits`,
    access,
    id: "addCreditsInBulk",
    noun: NOUN,
    summary: "Add credits to many customers",
    description: `Adds the same credits to each customer. Safe to repeat with the same \`reference\`. ${HOW}`,
    params: Type.Object(environmentParams),
    body: strictObject({
      customerIds,
      ...fields,
      reference,
    }),
    bodyBytesMax: BULK_BODY_BYTES_MAX,
    answer: BulkResult,
    codes: FOR_ALL,
    handle: async (call) => {
      const { customerIds: ids, reference: named, ...body } = call.body;
      const cell = cellOf(scopeOf(call));
      const [asked, customers] = [contextOf(call), ids.map(toCustomerId)];
      // Rejects a malformed time before any customer is changed.
      const { credits, kind, pool, expiresAt } = readCredits(toCustomerId(""), body);
      const after = { kind, credits, pool, expiresAt: timeOrNull(expiresAt) };
      const entry = { action: "credits.added_in_bulk", subject: `${credits} credits`, after };
      const answer = await run(turns, call, () =>
        changeEach(cell, asked, customers, callerOf(call), entry, async (context, customerId) => {
          const own = referenceFor(named, customerId);
          const input = readCredits(customerId, { ...body, reference: own });
          const outcome = await addCredits(cell, context, { ...input, creates: false });
          if (outcome.kind === "added") return "changed";
          if (outcome.kind === "already_added") return "unchanged";
          const { code, ...details } = explainRefusal(outcome.kind, { pool: input.pool, customerId });
          throw new Problem(code, details);
        }),
      );
      const [first] = answer.refused;
      const wrong = FOR_ALL.find((code) => code === first?.code);
      if (wrong !== undefined && answer.refused.length === ids.length)
        throw new Problem(wrong, { detail: first?.detail ?? "" });
      return answer;
    },
  });
}

function previewingCredits({ cellOf }: ManageParts): Operation {
  return operation({
    method: "POST",
    path: `${ENVIRONMENT_PATH}/bulk-credits/preview`,
    access,
    id: "previewCreditsInBulk",
    noun: NOUN,
    summary: "Find customers who already received credits",
    description:
      "Returns the customers who already received credits with this reference, and would not receive them again. Writes nothing.",
    params: Type.Object(environmentParams),
    body: strictObject({ customerIds, reference }),
    bodyBytesMax: BULK_BODY_BYTES_MAX,
    answer: Type.Object({
      received: Type.Array(Type.String({ examples: ["customer_42"] }), {
        description:
          "The customers who received credits with this reference, even if those credits were revoked later.",
      }),
    }),
    handle: async (call) => {
      const { customerIds: ids, reference: named } = call.body;
      const { environmentId } = scopeOf(call);
      const references = new Map(ids.map((id) => [referenceFor(named, toCustomerId(id)), id]));
      const grants = await single(cellOf(scopeOf(call)), (tx) =>
        findGrantsByReferences(tx, environmentId, [...references.keys()]),
      );
      return { received: [...references].flatMap(([own, id]) => (grants.has(own) ? [id] : [])) };
    },
  });
}

function blocking({ cellOf }: ManageParts, turns: Turns): Operation {
  return operation({
    method: "POST",
    path: `${ENVIRONMENT_PATH}/bulk-blocks`,
    access,
    id: "blockInBulk",
    noun: NOUN,
    summary: "Block or unblock many customers",
    description: `Blocks or unblocks each customer. Safe to repeat. ${HOW}`,
    params: Type.Object(environmentParams),
    body: strictObject({ customerIds, blocked: Type.Boolean({ examples: [true] }) }),
    bodyBytesMax: BULK_BODY_BYTES_MAX,
    answer: BulkResult,
    handle: async (call) => {
      const { customerIds: ids, blocked: isBlocked } = call.body;
      const cell = cellOf(scopeOf(call));
      const [asked, customers] = [contextOf(call), ids.map(toCustomerId)];
      const action = isBlocked ? "customers.blocked_in_bulk" : "customers.unblocked_in_bulk";
      const entry = { action, subject: "customers", after: { isBlocked } };
      return run(turns, call, () =>
        changeEach(cell, asked, customers, callerOf(call), entry, async (context, customerId) => {
          const { kind } = await blockCustomer(cell, context, { customerId, isBlocked });
          if (kind === "customer_not_found") throw customerNotFound();
          return kind;
        }),
      );
    },
  });
}

async function run(
  turns: Turns,
  call: Call,
  work: () => Promise<EachOutcome>,
): Promise<Static<typeof BulkResult>> {
  const { refused, ...counts } = await turns.take(scopeOf(call).environmentId, () =>
    reportInterruption(work),
  );
  return { ...counts, refused: [...refused] };
}

const toCustomerId = (text: string): CustomerId => brandAs<CustomerId>(text);

const SUFFIX_BYTES = 10;

/** The reference of one customer's grant. It does not depend on the other customers in the call. */
function referenceFor(reference: string, customerId: CustomerId): string {
  const digest = createHash("sha256").update(customerId).digest().subarray(0, SUFFIX_BYTES);
  return `${reference}:${digest.toString("hex")}`;
}
