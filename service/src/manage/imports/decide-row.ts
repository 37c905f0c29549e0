import { addCredits } from "../../entitlement/add-credits.ts";
import { assignPlan } from "../../entitlement/assign-plan.ts";
import type { Catalog } from "../../entitlement/catalog.ts";
import type { Change } from "../../entitlement/entry.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import type { Wallet } from "../../entitlement/wallet.ts";
import type { AuditLine } from "../../store/cell/bulk.ts";
import type { GrantOrigin, ReferencedGrant } from "../../store/cell/grants.ts";
import type { ImportedProfile } from "../../store/cell/imports.ts";
import type { CustomerNumber, Instant } from "../../words/brand.ts";
import { formatTimestamp } from "../../words/timestamp.ts";
import { isSameGrant } from "../credits/add-credits.ts";
import { summarize } from "../customers/open-wallet.ts";
import type { Column, ImportedCredits, ImportRow, RowError } from "./import-row.ts";

/** What there is of a row's customer. */
export type Known = {
  readonly wallet: Wallet;
  /** Null: the customer was made with what the row says. */
  readonly profile: ImportedProfile | null;
  readonly reference: string | null;
  /** What the row's reference names already. */
  readonly earlier: ReferencedGrant | null;
  /** Null: a dry run of somebody who is not there yet. */
  readonly customerNumber: CustomerNumber | null;
};

export type Decision = {
  readonly kind: "decided";
  /** Null where it stays. */
  readonly profile: ImportedProfile | null;
  readonly change: Change | null;
  readonly origin: { readonly grant: number; readonly origin: GrantOrigin } | null;
  readonly isPlanChanged: boolean;
  readonly audit: readonly Omit<AuditLine, "customerNumber">[];
};

type Failure = { readonly kind: "failed"; readonly error: RowError };
type Step = { readonly kind: "step"; readonly change: Change | null };

/** The opening balance of a file is neither bought through us nor a gift. */
const KIND = "manual" as const;

/** All of a row or nothing of it: profile, then plan, then credits. Repeated, it finds everything done. */
export function decideRow(
  { catalog, clock }: { readonly catalog: Catalog; readonly clock: Instant },
  known: Known,
  row: ImportRow,
): Decision | Failure {
  const audit: Omit<AuditLine, "customerNumber">[] = [];
  const profile = known.profile === null ? null : mergeProfile(known.profile, row.profile);
  const fields = Object.entries(row.profile).flatMap(([field, value]) => (value === null ? [] : [field]));
  if (profile !== null || known.profile === null) {
    const action = known.profile === null ? "customer.created" : "customer.changed";
    // Which fields, not what they say: the audit outlives an erased person.
    audit.push({ action, subject: "profile", before: null, after: { fields } });
  }

  const before = viewWallet(catalog, known.wallet, clock);
  const planned = decidePlan(catalog, known.wallet, row, clock);
  if (planned.kind === "failed") return planned;
  const wallet = planned.change?.wallet ?? known.wallet;
  if (planned.change !== null) {
    audit.push({
      action: "plan.assigned",
      subject: row.plan?.key ?? "",
      before: summarize(before, catalog),
      after: summarize(wallet, catalog),
    });
  }

  const added = decideCredits(catalog, { ...known, wallet }, row, clock);
  if (added.kind === "failed") return added;
  const change = joinChanges(planned.change, added.change);
  const isPlanChanged = planned.change !== null;
  const grant = added.change?.grants.at(-1);
  if (added.change === null || grant === undefined || row.credits === null)
    return { kind: "decided", profile, change, origin: null, isPlanChanged, audit };
  const { credits, expiresAt } = row.credits;
  const origin = { reference: known.reference, price: null, note: null };
  const until = expiresAt === null ? null : formatTimestamp(expiresAt);
  // The reference stands on the grant, from where it can be erased.
  audit.push({
    action: "credits.added",
    subject: `grant ${grant.number}`,
    before: summarize(planned.change?.wallet ?? before, catalog),
    after: { ...summarize(added.change.wallet, catalog), kind: KIND, credits, expiresAt: until, price: null },
  });
  const given = { grant: grant.number, origin };
  return { kind: "decided", profile, change, origin: given, isPlanChanged, audit };
}

/** Null when the row says nothing new. */
function mergeProfile(before: ImportedProfile, said: ImportedProfile): ImportedProfile | null {
  const after = {
    name: said.name ?? before.name,
    email: said.email ?? before.email,
    billingReference: said.billingReference ?? before.billingReference,
  };
  const isSame =
    after.name === before.name &&
    after.email === before.email &&
    after.billingReference === before.billingReference;
  return isSame ? null : after;
}

function decidePlan(catalog: Catalog, wallet: Wallet, row: ImportRow, clock: Instant): Step | Failure {
  const { plan: sought } = row;
  if (sought === null) return { kind: "step", change: null };
  const plan = catalog.plans.values().find(({ key }) => key === sought.key);
  if (plan === undefined) return fail(row, "plan", "unknown_key", "is no plan of this environment");
  const request = { plan: plan.id, anchor: null, endsAt: sought.endsAt };
  const outcome = assignPlan(catalog, wallet, request, clock);
  if (outcome.kind === "plan_archived") return fail(row, "plan", "unknown_key", "is no longer offered");
  if (outcome.kind === "ends_in_the_past")
    return fail(row, "planEndsAt", "ends_in_the_past", "lies in the past");
  if (outcome.kind === "would_shorten")
    return fail(row, "planEndsAt", "would_shorten", "is earlier than the end that is set");
  // What was due anyway is left to whoever next decides on this wallet.
  return { kind: "step", change: outcome.kind === "changed" ? outcome.change : null };
}

function decideCredits(catalog: Catalog, known: Known, row: ImportRow, clock: Instant): Step | Failure {
  const { credits: given } = row;
  if (given === null) return { kind: "step", change: null };
  const pool = catalog.pools.values().find(({ key }) => key === given.pool);
  if (pool === undefined) return fail(row, "pool", "unknown_key", "is no pool of this environment");
  const { earlier } = known;
  if (earlier !== null) {
    const asked = { customerNumber: known.customerNumber, kind: KIND, credits: given.credits, pool: pool.id };
    return isSameGrant(earlier, asked) ? { kind: "step", change: null } : fail(row, ...describeReuse(given));
  }
  const { credits, expiresAt } = given;
  const outcome = addCredits(catalog, known.wallet, { pool: pool.id, kind: KIND, credits, expiresAt }, clock);
  switch (outcome.kind) {
    case "added":
      return { kind: "step", change: outcome.change };
    case "expires_in_the_past":
      return fail(row, "expiresAt", "expires_in_the_past", "lies in the past");
    case "too_many_grants":
      return fail(row, "credits", outcome.kind, "would make one open grant too many");
    case "balance_too_large":
      return fail(row, "credits", outcome.kind, "would make the balance too large");
  }
}

function describeReuse({ reference }: ImportedCredits): [Column, string, string] {
  return reference === null
    ? ["credits", "reference_reused", "differs from what an import of this name has given this customer"]
    : ["reference", "reference_reused", "names other credits already"];
}

/** Of one wallet, one after the other. */
function joinChanges(first: Change | null, second: Change | null): Change | null {
  if (first === null || second === null) return first ?? second;
  return {
    wallet: second.wallet,
    entries: [...first.entries, ...second.entries],
    grants: [...first.grants, ...second.grants],
    assignments: [...first.assignments, ...second.assignments],
  };
}

function fail({ row }: ImportRow, column: Column, code: string, message: string): Failure {
  return { kind: "failed", error: { row, column, code, message } };
}
