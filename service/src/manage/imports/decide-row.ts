import { addCredits, type CreditsOutcome } from "../../entitlement/add-credits.ts";
import { type AssignmentOutcome, assignPlan } from "../../entitlement/assign-plan.ts";
import type { Catalog } from "../../entitlement/catalog.ts";
import { compareWallets } from "../../entitlement/view-wallet.ts";
import type { Wallet } from "../../entitlement/wallet.ts";
import type { CustomerNumber, Instant } from "../../primitives/brand.ts";
import type { ReferencedGrant } from "../../store/cell/grants.ts";
import type { ImportedProfile } from "../../store/cell/imports.ts";
import type { WalletEdit } from "../../store/cell/wallet-changes.ts";
import type { WalletName } from "../../store/cell/wallets.ts";
import { describeAddition, isSameGrant } from "../credits/add-credits.ts";
import { type Column, type ImportedCredits, type ImportRow, quote, type RowError } from "./import-row.ts";

/** The stored state of the row's customer. */
export type Known = {
  readonly wallet: Wallet;
  /** Null if the customer was created with the row's profile. */
  readonly profile: ImportedProfile | null;
  readonly reference: string | null;
  /** The grant that already uses the row's reference. */
  readonly earlier: ReferencedGrant | null;
  /** Null in a dry run if the customer does not exist yet. */
  readonly customerNumber: CustomerNumber | null;
};

export type Decision = {
  readonly kind: "decided";
  /** Null if unchanged. */
  readonly profile: ImportedProfile | null;
  readonly isPlanChanged: boolean;
  readonly areCreditsAdded: boolean;
  /** Successive changes to one wallet. */
  readonly edits: readonly Omit<WalletEdit, keyof WalletName>[];
};

type Failure = { readonly kind: "failed"; readonly error: RowError };
type Unchanged = { readonly kind: "unchanged"; readonly change: null };

const UNCHANGED: Unchanged = { kind: "unchanged", change: null };

/** Imported opening balances are neither purchases nor promotions. */
const KIND = "manual" as const;

/** Applies a row's profile, plan and credits, all or nothing. Repeating it changes nothing. */
export function decideRow(
  { catalog, clock }: { readonly catalog: Catalog; readonly clock: Instant },
  known: Known,
  row: ImportRow,
): Decision | Failure {
  const edits: Decision["edits"][number][] = [];
  const profile = known.profile === null ? null : mergeProfile(known.profile, row.profile);
  const fields = Object.entries(row.profile).flatMap(([field, value]) => (value === null ? [] : [field]));
  if (profile !== null || known.profile === null) {
    const action = known.profile === null ? "customer.created" : "customer.changed";
    // Field names only, no values: the audit log outlives an erased customer.
    edits.push({ change: null, audits: [{ action, subject: "profile", before: null, after: { fields } }] });
  }

  const planned = decidePlan(catalog, known.wallet, row, clock);
  if (planned.kind === "failed") return planned;
  const { change } = planned;
  if (change !== null) {
    const compared = compareWallets({ catalog, clock, wallet: known.wallet }, change.wallet);
    edits.push({ change, audits: [{ action: "plan.assigned", subject: row.plan?.key ?? "", ...compared }] });
  }

  const wallet = change?.wallet ?? known.wallet;
  const added = decideCredits(catalog, { ...known, wallet }, row, clock);
  if (added.kind === "failed") return added;
  const areCreditsAdded = added.kind === "added" && row.credits !== null;
  if (areCreditsAdded) {
    const { reference } = known;
    const given = { ...row.credits, kind: KIND, price: null };
    edits.push({
      change: added.change,
      annotation: { grant: { number: added.grant.number, origin: { reference, price: null, note: null } } },
      audits: [describeAddition({ catalog, clock, wallet }, added, given)],
    });
  }
  return { kind: "decided", profile, isPlanChanged: change !== null, areCreditsAdded, edits };
}

/** Merges the imported profile into the current one. Null if nothing changes. */
function mergeProfile(before: ImportedProfile, imported: ImportedProfile): ImportedProfile | null {
  const after = {
    name: imported.name ?? before.name,
    email: imported.email ?? before.email,
    billingReference: imported.billingReference ?? before.billingReference,
  };
  const isSame =
    after.name === before.name &&
    after.email === before.email &&
    after.billingReference === before.billingReference;
  return isSame ? null : after;
}

function decidePlan(
  catalog: Catalog,
  wallet: Wallet,
  row: ImportRow,
  clock: Instant,
): Extract<AssignmentOutcome, { kind: "changed" }> | Unchanged | Failure {
  const { plan: sought } = row;
  if (sought === null) return UNCHANGED;
  const plan = catalog.plans.values().find(({ key }) => key === sought.key);
  if (plan === undefined)
    return fail(
      row,
      "plan",
      "unknown_key",
      `is not a published plan in this environment: ${quote(sought.key)}`,
    );
  const request = { plan: plan.id, anchor: null, endsAt: sought.endsAt };
  const outcome = assignPlan(catalog, wallet, request, clock);
  if (outcome.kind === "plan_archived") return fail(row, "plan", "unknown_key", "is archived");
  if (outcome.kind === "ends_in_the_past")
    return fail(row, "planEndsAt", "ends_in_the_past", "is in the past");
  if (outcome.kind === "would_shorten")
    return fail(row, "planEndsAt", "would_shorten", "is earlier than the current end");
  // Renewals and expirations that are already due are applied by the next decision on this wallet.
  return outcome.kind === "changed" ? outcome : UNCHANGED;
}

function decideCredits(
  catalog: Catalog,
  known: Known,
  row: ImportRow,
  clock: Instant,
): Extract<CreditsOutcome, { kind: "added" }> | Unchanged | Failure {
  const { credits: given } = row;
  if (given === null) return UNCHANGED;
  const pool = catalog.pools.values().find(({ key }) => key === given.pool);
  if (pool === undefined)
    return fail(row, "pool", "unknown_key", `does not exist in this environment: ${quote(given.pool)}`);
  const { earlier } = known;
  if (earlier !== null) {
    const asked = { customerNumber: known.customerNumber, kind: KIND, credits: given.credits, pool: pool.id };
    return isSameGrant(earlier, asked) ? UNCHANGED : fail(row, ...describeReuse(given));
  }
  const { credits, expiresAt } = given;
  const outcome = addCredits(catalog, known.wallet, { pool: pool.id, kind: KIND, credits, expiresAt }, clock);
  switch (outcome.kind) {
    case "added":
      return outcome;
    case "expires_in_the_past":
      return fail(row, "expiresAt", "expires_in_the_past", "is in the past");
    case "too_many_grants":
      return fail(row, "credits", outcome.kind, "would exceed 50 open grants");
    case "balance_too_large":
      return fail(row, "credits", outcome.kind, "would make the balance too large");
  }
}

function describeReuse({ reference }: ImportedCredits): [Column, string, string] {
  return reference === null
    ? [
        "credits",
        "reference_reused",
        "differs from the credits that an earlier import with the same name added for this customer",
      ]
    : ["reference", "reference_reused", "is already used for other credits"];
}

function fail({ row }: ImportRow, column: Column, code: string, message: string): Failure {
  return { kind: "failed", error: { row, column, code, message } };
}
