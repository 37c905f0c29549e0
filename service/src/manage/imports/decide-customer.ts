import { addCredits, type CreditsOutcome } from "../../entitlement/add-credits.ts";
import { assignPlan } from "../../entitlement/assign-plan.ts";
import type { Catalog } from "../../entitlement/catalog.ts";
import type { Change } from "../../entitlement/entry.ts";
import { reduceAllowance } from "../../entitlement/reduce-allowance.ts";
import { compareWallets, viewWallet } from "../../entitlement/view-wallet.ts";
import type { GrantKind, Wallet } from "../../entitlement/wallet.ts";
import type { Instant, PoolId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { ImportedProfile } from "../../store/cell/imports.ts";
import type { Annotation, WalletEdit } from "../../store/cell/wallet-changes.ts";
import type { WalletName } from "../../store/cell/wallets.ts";
import { describeAddition, isSameGrant } from "../credits/add-credits.ts";
import { type Column, type ImportedCredits, quote, type RowError } from "./import-row.ts";
import type { ImportedCustomer } from "./imported-customer.ts";
import {
  creditsReference,
  findEarlier,
  type Importing,
  planReference,
  type Referenced,
} from "./references.ts";

/** The stored state of an imported customer. */
export type Known = {
  readonly wallet: Wallet;
  /** Null if this import created the customer. The customer then already has the imported profile. */
  readonly profile: ImportedProfile | null;
  readonly referenced: Referenced;
  readonly importing: Importing;
};

/** Credits that an import adds to a pool. */
export type GivenCredits = { readonly pool: PoolId; readonly kind: GrantKind; readonly credits: number };

export type Decision = {
  readonly kind: "decided";
  /** The new profile. Null if the profile is unchanged or the customer is new. */
  readonly profile: ImportedProfile | null;
  readonly isPlanChanged: boolean;
  /** Number of rows that added credits. */
  readonly rowsAdded: number;
  readonly given: readonly GivenCredits[];
  /** Successive changes to the customer's wallet. */
  readonly edits: readonly Edit[];
};

type Edit = Omit<WalletEdit, keyof WalletName>;
type Failure = { readonly kind: "failed"; readonly error: RowError };
type Scene = { readonly catalog: Catalog; readonly clock: Instant };

/** Decides the changes to a customer's profile, plan and credits. Fails if any row fails. Safe to repeat. */
export function decideCustomer(scene: Scene, known: Known, customer: ImportedCustomer): Decision | Failure {
  const profile = known.profile === null ? null : mergeProfile(known.profile, customer.profile);
  const edits: Edit[] = [];
  if (profile !== null || known.profile === null) {
    const action = known.profile === null ? "customer.created" : "customer.changed";
    const fields = Object.entries(customer.profile).flatMap(([field, value]) =>
      value === null ? [] : [field],
    );
    // Records only field names, because audit entries are kept after the customer is erased.
    edits.push({ change: null, audits: [{ action, subject: "profile", before: null, after: { fields } }] });
  }
  const planned = decidePlan(scene, known, customer);
  if (planned.kind === "failed") return planned;
  edits.push(...planned.edits);
  const added = decideCredits(scene, { ...known, wallet: planned.wallet }, customer);
  if (added.kind === "failed") return added;
  edits.push(...added.edits);
  return {
    kind: "decided",
    profile,
    isPlanChanged: planned.isChanged,
    rowsAdded: added.edits.length,
    given: [...planned.given, ...added.given],
    edits,
  };
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

type Planned = Pick<Decision, "edits" | "given"> & {
  readonly kind: "planned";
  readonly isChanged: boolean;
  readonly wallet: Wallet;
};

/** Assigns the plan, and reduces its new allowances to `allowanceRemaining`. */
function decidePlan(scene: Scene, known: Known, customer: ImportedCustomer): Planned | Failure {
  const { catalog, clock } = scene;
  const { plan: sought } = customer;
  if (sought === null) return unplanned(known.wallet);
  const plan = catalog.plans.values().find(({ key }) => key === sought.key);
  const failPlan = failAt(customer.row);
  if (plan === undefined)
    return failPlan(
      "plan",
      "unknown_key",
      `is not a published plan in this environment: ${quote(sought.key)}`,
    );
  const { anchor, endsAt } = sought;
  const outcome = assignPlan(catalog, known.wallet, { plan: plan.id, anchor, endsAt }, clock);
  if (outcome.kind === "plan_archived") return failPlan("plan", "unknown_key", "is archived");
  if (outcome.kind === "ends_in_the_past")
    return failPlan("planEndsAt", "ends_in_the_past", "is in the past");
  if (outcome.kind === "would_shorten")
    return failPlan("planEndsAt", "would_shorten", "is earlier than the current end date");
  if (outcome.kind === "anchor_fixed")
    return failPlan(
      "anchor",
      "anchor_fixed",
      `differs from the plan's anchor, ${formatTimestamp(outcome.anchor)}`,
    );
  // If the plan is unchanged, the next change to this wallet applies due renewals and expiries.
  const change = outcome.kind === "changed" ? outcome.change : null;
  const reduced = reduceAllowances(scene, known, customer, change);
  if (reduced.kind === "failed") return reduced;
  if (change === null) return unplanned(known.wallet);
  const { wallet } = reduced;
  const compared = compareWallets({ catalog, clock, wallet: known.wallet }, wallet);
  const audits = [{ action: "plan.assigned", subject: sought.key, ...compared }];
  const { marked } = reduced;
  const annotation = marked === null ? {} : { annotation: { grant: marked } };
  const edits = [{ change, ...annotation, audits }, ...reduced.edits];
  return {
    kind: "planned",
    isChanged: true,
    wallet,
    edits,
    given: [...grantedNow(change), ...reduced.given],
  };
}

function unplanned(wallet: Wallet): Planned {
  return { kind: "planned", isChanged: false, wallet, edits: [], given: [] };
}

type Reduced = Omit<Planned, "kind" | "isChanged"> & {
  readonly kind: "reduced";
  /** The grant that stores the reference from `planReference`, which makes the reduction safe to repeat. */
  readonly marked: NonNullable<Annotation["grant"]> | null;
};

/** Reduces only new allowances. An older allowance already reflects the charges since an earlier import. */
function reduceAllowances(
  { catalog, clock }: Scene,
  { importing, referenced, wallet: before }: Known,
  { allowances }: ImportedCustomer,
  change: Change | null,
): Reduced | Failure {
  let wallet = change?.wallet ?? before;
  let marked: Reduced["marked"] = null;
  const edits: Edit[] = [];
  const given: GivenCredits[] = [];
  const reference = planReference(importing);
  const isRepeated = reference !== null && referenced.has(reference);
  // Allowances from renewals that were already due before the import are not new.
  const { grantCount } = viewWallet(catalog, before, clock);
  for (const { row, pool: key, remaining } of allowances) {
    const pool = findPool(catalog, key);
    if (pool === undefined) return failPool(row, key);
    const current = wallet.assignment?.allowances.find((allowance) => allowance.pool === pool)?.grant;
    const granted = change?.grants.find(({ number }) => number === current && number > grantCount);
    if (granted === undefined && isRepeated) continue;
    const outcome = reduceAllowance(catalog, wallet, { pool, remaining }, clock);
    const failHere = failAt(row);
    if (outcome.kind === "no_allowance")
      return failHere(
        "allowanceRemaining",
        "no_allowance",
        `needs a plan with an allowance of ${quote(key)}`,
      );
    if (granted === undefined && outcome.kind === "unchanged") continue;
    if (granted === undefined)
      return failHere(
        "allowanceRemaining",
        "already_assigned",
        "applies only if this import assigns the plan: the customer already has it",
      );
    if (outcome.kind === "above_remaining")
      return failHere(
        "allowanceRemaining",
        "above_allowance",
        `is more than the plan's allowance of ${outcome.remaining}`,
      );
    if (!isRepeated) marked ??= { number: granted.number, origin: { reference, price: null, note: null } };
    if (outcome.kind === "unchanged") continue;
    ({ wallet } = outcome.change);
    edits.push({ change: outcome.change, audits: [] });
    given.push({ pool, kind: "allowance", credits: -outcome.credits });
  }
  return { kind: "reduced", wallet, edits, given, marked };
}

/** The allowances that a change grants at the time of the import, without renewals that were due earlier. */
function grantedNow({ wallet, entries }: Change): GivenCredits[] {
  return entries.flatMap(({ kind, pool, amount, effectiveAt }) =>
    kind === "grant" && effectiveAt === wallet.decidedAt
      ? [{ pool, kind: "allowance" as const, credits: amount }]
      : [],
  );
}

type Added = Pick<Decision, "edits" | "given"> & { readonly kind: "added" };

function decideCredits(scene: Scene, known: Known, { credits }: ImportedCustomer): Added | Failure {
  const { catalog, clock } = scene;
  const edits: Edit[] = [];
  const given: GivenCredits[] = [];
  let { wallet } = known;
  for (const row of credits) {
    const pool = findPool(catalog, row.pool);
    if (pool === undefined) return failPool(row.row, row.pool);
    const { kind, credits: amount, expiresAt } = row;
    const { customerNumber } = known.importing;
    const earlier = findEarlier(known.importing, row, pool, known.referenced);
    if (earlier !== null && isSameGrant(earlier, { customerNumber, kind, credits: amount, pool })) continue;
    if (earlier !== null) return failReuse(row);
    const outcome = addCredits(catalog, wallet, { pool, kind, credits: amount, expiresAt }, clock);
    if (outcome.kind !== "added") return failAddition(row, outcome.kind);
    const reference = creditsReference(known.importing, row, pool);
    edits.push({
      change: outcome.change,
      annotation: { grant: { number: outcome.grant.number, origin: { reference, price: null, note: null } } },
      audits: [describeAddition({ catalog, clock, wallet }, outcome, { ...row, price: null })],
    });
    given.push({ pool, kind, credits: amount });
    ({ wallet } = outcome.change);
  }
  return { kind: "added", edits, given };
}

function findPool(catalog: Catalog, sought: string): PoolId | undefined {
  return catalog.pools.values().find(({ key }) => key === sought)?.id;
}

function failPool(row: number, key: string): Failure {
  return failAt(row)("pool", "unknown_key", `does not exist in this environment: ${quote(key)}`);
}

function failAddition({ row }: ImportedCredits, kind: Exclude<CreditsOutcome["kind"], "added">): Failure {
  const failHere = failAt(row);
  switch (kind) {
    case "expires_in_the_past":
      return failHere("expiresAt", kind, "is in the past");
    case "too_many_grants":
      return failHere("credits", kind, "would exceed 50 open grants");
    case "balance_too_large":
      return failHere("credits", kind, "would make the balance too large");
  }
}

function failReuse({ row, reference }: ImportedCredits): Failure {
  return reference === null
    ? failAt(row)(
        "credits",
        "reference_reused",
        "differs from the credits that an earlier import with the same name added for this customer",
      )
    : failAt(row)("reference", "reference_reused", "is already used for other credits");
}

function failAt(row: number): (column: Column, code: string, message: string) => Failure {
  return (column, code, message) => ({ kind: "failed", error: { row, column, code, message } });
}
