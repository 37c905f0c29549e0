import { type Static, Type } from "typebox";
import type { ProblemCode } from "../../edge/problem.ts";
import { noteField } from "../../edge/request-fields.ts";
import { BALANCE_TOO_LARGE } from "../../edge/reversal-problem.ts";
import { type CreditsOutcome, addCredits as decideCredits } from "../../entitlement/add-credits.ts";
import { compareWallets, viewWallet } from "../../entitlement/view-wallet.ts";
import { balanceOf, type GrantKind } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import { decodeSqlError } from "../../postgres/sql-error.ts";
import type { Tx } from "../../postgres/statement.ts";
import { assertNever } from "../../primitives/assert.ts";
import type { CustomerId, CustomerNumber, EnvironmentId, Instant } from "../../primitives/brand.ts";
import { findLiveCustomerId } from "../../store/cell/customers.ts";
import { findGrantByReference, type GrantOrigin, type ReferencedGrant } from "../../store/cell/grants.ts";
import { type OpenWallet, openOrCreateWallet, openWallet } from "../../store/cell/open-wallets.ts";
import { type AuditLine, saveEdits } from "../../store/cell/wallet-changes.ts";
import { FIRST_POOL } from "../catalog/content.ts";
import type { Context } from "../context.ts";
import { priceField } from "../customers/list-grants.ts";
import { ensureFirstPool } from "../edit-catalog.ts";
import { nullable, poolKeyField, readTime, strictObject, timeOf, timeOrNull } from "../fields.ts";
import { walletTransaction } from "../wallet-transaction.ts";

/** Erasing a customer replaces each reference with `erased:` and a hash, so callers cannot use that prefix. */
export const referenceField = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: "^(?!erased:)",
  description:
    "A reference, such as a payment ID, makes the call safe to repeat. It permanently identifies one grant in the environment. " +
    "Sending the same reference again adds nothing, even with a different expiry or price.",
  examples: ["pi_3MtwBwLkdIwHu7ix"],
});

export const CreditsBody = strictObject({
  credits: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [500] }),
  kind: Type.Enum(["purchase", "manual", "promotion"], {
    description: "Among credits with the same expiry, free credits are spent before purchased ones.",
  }),
  pool: Type.Optional(poolKeyField),
  expiresAt: Type.Optional(
    nullable(timeOf("If omitted or null, the credits never expire.", "2027-11-15T00:00:00Z")),
  ),
  reference: Type.Optional(nullable(referenceField)),
  price: Type.Optional(nullable(priceField)),
  note: Type.Optional(nullable(noteField)),
});

export function readCredits(customerId: CustomerId, body: Static<typeof CreditsBody>): AddCreditsInput {
  const { credits, kind, pool, expiresAt, reference, price, note } = body;
  return {
    customerId,
    credits,
    kind,
    pool: pool ?? FIRST_POOL.key,
    expiresAt: readTime("expiresAt", expiresAt) ?? null,
    reference: reference ?? null,
    price: price == null ? null : { ...price, currency: price.currency.toUpperCase() },
    note: note ?? null,
  };
}

/** The grant that already uses a reference. */
export type ReferenceUse = {
  /** Null if the customer was erased. */
  readonly customerId: CustomerId | null;
  readonly grant: number;
};

type CreditsRefusal = {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly extra?: Readonly<Record<string, string | number>>;
};

/** Explains why credits cannot be added. Adding credits and the preview share this function. */
export function explainRefusal(
  kind: Exclude<AddCreditsOutcome["kind"], "added" | "already_added">,
  { pool = "", customerId = null, usedBy = null }: RefusedAddition = {},
): CreditsRefusal {
  switch (kind) {
    case "customer_not_found":
      return { code: "not_found", detail: "There is no such customer in this environment." };
    case "pool_not_found":
      return { code: "unknown_key", detail: `There is no pool \`${pool}\` in this environment.` };
    case "expires_in_the_past":
      return { code: "ends_in_the_past", detail: "`expiresAt` must be in the future." };
    case "reference_reused":
      return { code: "reference_reused", ...explainReuse(usedBy, customerId) };
    case "too_many_grants":
      return {
        code: "too_many_grants",
        detail:
          "The customer has 50 open grants. You can only add credits with the same kind and expiry as an open grant.",
      };
    case "balance_too_large":
      return { code: kind, detail: BALANCE_TOO_LARGE };
    default:
      return assertNever(kind);
  }
}

type RefusedAddition = {
  readonly pool?: string;
  readonly customerId?: CustomerId | null;
  /** Null if the caller may not see the earlier grant. */
  readonly usedBy?: ReferenceUse | null;
};

function explainReuse(
  usedBy: ReferenceUse | null,
  asked: CustomerId | null,
): Pick<CreditsRefusal, "detail" | "extra"> {
  if (usedBy === null)
    return {
      detail:
        "This reference was already used for another customer, amount, kind or pool. Nothing was added.",
    };
  const { customerId, grant } = usedBy;
  if (customerId === null)
    return { detail: "This reference was already used for a customer who was erased. Nothing was added." };
  const extra = { usedByCustomer: customerId, usedByGrant: grant };
  if (customerId === asked)
    return {
      detail: `This reference was already used for another amount, kind or pool: grant ${grant} of this customer. Nothing was added.`,
      extra,
    };
  return {
    detail: `This reference was already used for customer \`${customerId}\` (grant ${grant}). Nothing was added.`,
    extra,
  };
}

export type AddCreditsInput = GrantOrigin & {
  readonly customerId: CustomerId;
  /** The pool's key. */
  readonly pool: string;
  readonly kind: Exclude<GrantKind, "allowance">;
  readonly credits: number;
  readonly expiresAt: Instant | null;
  /** Whether to create a customer who does not exist. Default: true. */
  readonly creates?: boolean;
};

export type AddCreditsOutcome =
  | { kind: "added"; grant: number; balanceBefore: number; balanceAfter: number }
  /** Nothing was added, because a grant with this reference, customer and amount exists. */
  | { kind: "already_added"; grant: number; balance: number }
  | { kind: "reference_reused"; usedBy: ReferenceUse & { effectiveAt: Instant } }
  | { kind: "pool_not_found" | "customer_not_found" }
  | Exclude<CreditsOutcome, { kind: "added" }>;

/** Adds credits. Without a reference, such as a payment ID, each call adds the credits again. */
export async function addCredits(
  cell: Pool,
  context: Context,
  input: AddCreditsInput,
): Promise<AddCreditsOutcome> {
  try {
    return await addOnce(cell, context, input);
  } catch (error) {
    const failure = decodeSqlError(error);
    const isTwin = failure.kind === "conflict" && failure.constraint === "grants_reference_key";
    if (!isTwin) throw error;
    // A concurrent call committed this reference first. The second attempt finds the grant.
    return addOnce(cell, context, input);
  }
}

function addOnce(cell: Pool, context: Context, input: AddCreditsInput): Promise<AddCreditsOutcome> {
  const { customerId, kind, credits, expiresAt, reference, price, note, creates = true } = input;
  const openIt = creates ? openOrCreateWallet : openWallet;
  return walletTransaction<AddCreditsOutcome>(
    cell,
    context,
    customerId,
    async (tx) => {
      if (input.pool === FIRST_POOL.key) await ensureFirstPool(tx, context);
      const open = await openIt(tx, context, customerId);
      if (open === null) return { kind: "customer_not_found" };
      const { environmentId, customerNumber, catalog, wallet, clock } = open;
      const pool = catalog.pools.values().find(({ key }) => key === input.pool)?.id;
      if (pool === undefined) return { kind: "pool_not_found" };

      const earlier = reference === null ? null : await findGrantByReference(tx, environmentId, reference);
      if (earlier !== null) {
        const isSame = isSameGrant(earlier, { customerNumber, kind, credits, pool });
        if (!isSame) return { kind: "reference_reused", usedBy: await findUse(tx, environmentId, earlier) };
        const balance = balanceOf(viewWallet(catalog, wallet, clock), pool);
        return { kind: "already_added", grant: earlier.number, balance };
      }

      const outcome = decideCredits(catalog, wallet, { pool, kind, credits, expiresAt }, clock);
      if (outcome.kind !== "added") return outcome;
      const { change, grant } = outcome;
      const annotation = { grant: { number: grant.number, origin: { reference, price, note } } };
      const audit = describeAddition(open, outcome, { kind, credits, expiresAt, price });
      await saveEdits(tx, { ...context, clock }, [{ ...open, change, annotation, audits: [audit] }]);
      const balanceAfter = balanceOf(change.wallet, pool);
      return { kind: "added", grant: grant.number, balanceBefore: balanceAfter - credits, balanceAfter };
    },
    // `already_added` reports success too, so the earlier grant must be durable. Committing this transaction,
    // which holds the wallet's lock, ensures that.
    ({ kind }) => kind === "added" || kind === "already_added",
  );
}

async function findUse(
  tx: Tx,
  environmentId: EnvironmentId,
  { customerNumber, number, effectiveAt }: ReferencedGrant,
): Promise<ReferenceUse & { readonly effectiveAt: Instant }> {
  const customerId = await findLiveCustomerId(tx, { environmentId, customerNumber });
  return { customerId, grant: number, effectiveAt };
}

/**
 * Describes an addition for the audit log, without its reference or note. Both are stored with the grant, where they can be erased.
 */
export function describeAddition(
  before: Pick<OpenWallet, "catalog" | "wallet" | "clock">,
  { change, grant }: Extract<CreditsOutcome, { kind: "added" }>,
  { kind, credits, expiresAt, price }: Pick<AddCreditsInput, "kind" | "credits" | "expiresAt" | "price">,
): AuditLine {
  const compared = compareWallets(before, change.wallet);
  const until = timeOrNull(expiresAt);
  return {
    action: "credits.added",
    subject: `grant ${grant.number}`,
    before: compared.before,
    after: { ...compared.after, kind, credits, expiresAt: until, price },
  };
}

type Given = Pick<ReferencedGrant, "kind" | "credits" | "pool"> & {
  /** Null if the customer does not exist yet. */
  readonly customerNumber: CustomerNumber | null;
};

/** Whether an earlier grant with the same reference is for the same customer, amount, pool and kind. */
export function isSameGrant(earlier: Given, asked: Given): boolean {
  return (
    earlier.customerNumber === asked.customerNumber &&
    earlier.credits === asked.credits &&
    earlier.pool === asked.pool &&
    earlier.kind === asked.kind
  );
}
