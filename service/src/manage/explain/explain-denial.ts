import type { Catalog, PlanFeature } from "../../entitlement/catalog.ts";
import { parseItems } from "../../entitlement/consumption.ts";
import { decide, type Reason } from "../../entitlement/decide.ts";
import { overageLeft } from "../../entitlement/overage.ts";
import { findOverride } from "../../entitlement/overrides.ts";
import { positionIn } from "../../entitlement/stored-answer.ts";
import type { FeatureOverride, Wallet } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single } from "../../postgres/transaction.ts";
import type { Instant, PoolId } from "../../primitives/brand.ts";
import { publicId } from "../../primitives/public-id.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { Uuid } from "../../primitives/uuid.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { listCharges } from "../../store/cell/charges.ts";
import { readClock } from "../../store/cell/clock.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import { mapCustomerIds } from "../../store/cell/customers.ts";
import { type Denial, findDenial, nameDenial } from "../../store/cell/denials.ts";
import { listGrantDetails } from "../../store/cell/grant-list.ts";
import { listHoldsOpenAt } from "../../store/cell/hold-list.ts";
import { findKeptRequest, type KeptRequest } from "../../store/cell/key-records.ts";
import { sumParts } from "../../store/cell/ledger-balances.ts";
import { listOverrides, listOverridesPage } from "../../store/cell/overrides.ts";
import type { WalletName } from "../../store/cell/wallets.ts";
import type { Scope } from "../../store/control/scopes.ts";
import { describeDeniedItems } from "../customers/denied-items.ts";
import { OVERRIDES_NUMBER_MAX } from "../customers/overrides.ts";
import { timeOrNull } from "../fields.ts";
import { type DenialExplanation, denialSentences } from "./denial-explanation.ts";
import { describeCharge, parseMetadata } from "./key-story.ts";

const CHARGES_MAX = 10;
/** Maximum number of ledger entries or hold changes to read for `openGrants`. Reading this many takes tens of milliseconds. */
const ENTRIES_MAX = 20_000;

/** Explains a denial, and how the same request would be decided now. Null if the denial does not exist in this environment. */
export function explainDenial(
  cell: Pool,
  scope: Scope,
  { id, since }: { readonly id: Uuid; readonly since: Instant | null },
): Promise<DenialExplanation | null> {
  return single(cell, async (tx) => {
    const { projectId, environmentId } = scope;
    const denial = await findDenial(tx, environmentId, nameDenial(id));
    if (denial === null || denial.recordedAt < (since ?? 0)) return null;
    const { customerNumber, sequence } = denial;
    const name = { environmentId, customerNumber };
    const kept = await findKeptRequest(tx, projectId, denial.keyHash, null);
    const catalog = await loadCatalog(tx, environmentId);
    const customerId = (await mapCustomerIds(tx, environmentId, [customerNumber])).get(customerNumber);
    const customer =
      customerId === undefined ? null : await findCustomerRecord(tx, { environmentId, customerId });
    const wallet = customer?.wallet ?? null;
    const override = await findOverrideOf(tx, catalog, name, denial);
    const pool = poolOf(catalog, denial, override);
    // Uses the stored response only if it belongs to this denial, because an expired key may have been reused.
    const own = kept?.answer.subjectId.equals(denial.id) ? kept : null;
    const isOverageKnown = own !== null || !(await couldHaveOverage(tx, catalog, name, { denial, pool }));
    const charges = await listCharges(tx, name, { before: sequence + 1, limit: CHARGES_MAX });
    const facts = {
      denialId: publicId("den", denial.id),
      recordedAt: formatTimestamp(denial.recordedAt),
      customerId: customer?.customerId ?? null,
      customerName: customer?.name ?? null,
      feature: denial.feature,
      quantity: denial.quantity,
      ...describeDeniedItems(denial),
      idempotencyKey: kept?.key ?? null,
      memberId: denial.memberId,
      metadata: parseMetadata(denial.metadata),
      plan: describePlan(catalog, denial),
      overrides: denial.overrides,
      isOverridden: override !== null && isDecidedBy(override, catalog, denial),
      pool: poolKey(catalog, pool),
      ...describePosition(denial, own, isOverageKnown),
      limitPeriod: denial.limit === null ? null : limitPeriodOf(catalog, denial, override),
      openGrants: await describeGrants(tx, catalog, name, { at: denial.recordedAt, sequence, wallet }),
      chargesBefore: charges.filter(({ recordedAt }) => recordedAt >= (since ?? 0)).map(describeCharge),
      now: wallet === null ? null : decideNow(catalog, wallet, denial, await readClock(tx)),
    };
    return { ...facts, sentences: denialSentences(facts) };
  });
}

function describePlan(catalog: Catalog, { planVersion }: Denial): DenialExplanation["plan"] {
  const version = planVersion === null ? undefined : catalog.versions.get(planVersion);
  const plan = version === undefined ? undefined : catalog.plans.get(version.plan);
  if (version === undefined || plan === undefined) return null;
  return { key: plan.key, name: plan.name, version: version.number };
}

/** Finds the override for the denied feature that applied at the time of the denial. */
async function findOverrideOf(
  tx: Tx,
  catalog: Catalog,
  name: WalletName,
  { overrides: number, feature: key }: Denial,
): Promise<FeatureOverride | null> {
  const feature = catalog.features.get(key);
  if (number === null || feature === undefined) return null;
  const [overrides = null] = await listOverrides(tx, name, [number]);
  return findOverride(overrides, feature.id);
}

/** Whether the override, rather than the plan, set the terms that caused the denial. */
function isDecidedBy({ included, cost, limit }: FeatureOverride, catalog: Catalog, denial: Denial): boolean {
  switch (denial.reason) {
    case "insufficient_credits":
      return cost !== null || planTermsOf(catalog, denial) === undefined;
    case "limit_reached":
      return limit !== undefined;
    case "feature_not_in_plan":
      return included === false;
    default:
      return false;
  }
}

/** The plan version's terms for the denied feature. */
function planTermsOf(catalog: Catalog, { planVersion, feature: key }: Denial): PlanFeature | undefined {
  const feature = catalog.features.get(key);
  const version = planVersion === null ? undefined : catalog.versions.get(planVersion);
  return feature === undefined ? undefined : version?.features.get(feature.id);
}

/** The pool pinned by the plan version or by the overrides, otherwise the feature's current pool. */
function poolOf(catalog: Catalog, denial: Denial, override: FeatureOverride | null): PoolId | null {
  const feature = catalog.features.get(denial.feature);
  if (feature === undefined) return null;
  return planTermsOf(catalog, denial)?.pool ?? override?.added?.pool ?? feature.pool;
}

function limitPeriodOf(catalog: Catalog, denial: Denial, override: FeatureOverride | null) {
  const limit = override?.limit === undefined ? planTermsOf(catalog, denial)?.limit : override.limit;
  return limit?.period ?? null;
}

function poolKey(catalog: Catalog, id: PoolId | null): string {
  return (id === null ? undefined : catalog.pools.get(id)?.key) ?? "credits";
}

/** Maximum number of a customer's overrides to search for overage, newest first. */
const OVERRIDES_MAX = 100;

/** Whether the plan version or any of the customer's overrides, past or present, allow overage in the pool. */
async function couldHaveOverage(
  tx: Tx,
  catalog: Catalog,
  name: WalletName,
  { denial: { planVersion }, pool }: { readonly denial: Denial; readonly pool: PoolId | null },
): Promise<boolean> {
  const version = planVersion === null ? undefined : catalog.versions.get(planVersion);
  const isInPlan = version?.allowances.some((other) => other.pool === pool && other.overage !== 0);
  if (isInPlan === true) return true;
  const recent = await listOverridesPage(tx, name, { before: OVERRIDES_NUMBER_MAX, limit: OVERRIDES_MAX });
  return recent.some(({ allowances }) =>
    allowances.some((own) => own.pool === pool && own.overage !== undefined && own.overage !== 0),
  );
}

type PositionFacts = Pick<
  DenialExplanation,
  "reason" | "creditsRequired" | "balance" | "overage" | "shortfall" | "resetsAt" | "limit"
>;

/** Describes the balance, overage and limit. The denial stores only one of the two reset times. The stored response has both. */
function describePosition(denial: Denial, kept: KeptRequest | null, isOverageKnown: boolean): PositionFacts {
  const { reason, creditsRequired, balance, limit } = denial;
  const position = kept === null ? null : positionIn(kept.answer, denial.request?.deniedItem ?? 0);
  const overage = position?.overage ?? null;
  const isLimit = reason === "limit_reached";
  const resetsAt = isLimit ? (position?.resetsAt ?? null) : denial.resetsAt;
  const limitResetsAt = isLimit ? denial.resetsAt : (position?.limit?.resetsAt ?? null);
  return {
    reason,
    creditsRequired,
    balance,
    overage,
    shortfall: isOverageKnown ? shortfallIn({ reason, creditsRequired, balance, overage }) : null,
    resetsAt: timeOrNull(resetsAt),
    limit:
      limit === null
        ? null
        : { ...limit, remaining: remainingOf(limit), resetsAt: timeOrNull(limitResetsAt) },
  };
}

/** Credits that neither the balance nor overage covers. Null unless `reason` is `insufficient_credits`. */
function shortfallIn(facts: {
  readonly reason: Reason | null;
  readonly creditsRequired: number;
  readonly balance: number;
  readonly overage: DenialExplanation["overage"];
}): number | null {
  const { reason, creditsRequired, balance, overage } = facts;
  if (reason !== "insufficient_credits") return null;
  return creditsRequired - balance - overageLeft(overage === null ? null : { ...overage, held: 0 });
}

function remainingOf({ quantity, used }: { readonly quantity: number; readonly used: number }): number {
  return Math.max(0, quantity - used);
}

async function describeGrants(
  tx: Tx,
  catalog: Catalog,
  name: WalletName,
  moment: Moment,
): Promise<DenialExplanation["openGrants"]> {
  const left = (await sumFromStart(tx, name, moment)) ?? (await sumFromEnd(tx, name, moment));
  const held = await listHeld(tx, name, moment);
  if (left === null || held === null) return null;
  for (const { grant, credits } of held) left.set(grant, (left.get(grant) ?? 0) - credits);
  const open = [...left].filter(([, remaining]) => remaining > 0).map(([grant]) => grant);
  const details = await listGrantDetails(tx, name, open);
  return details.map(({ number, pool, kind, expiresAt, reference }) => ({
    grant: number,
    pool: poolKey(catalog, pool),
    kind,
    remaining: left.get(number) ?? 0,
    expiresAt: timeOrNull(expiresAt),
    reference,
  }));
}

type Moment = {
  readonly at: Instant;
  /** Sequence of the last ledger entry before `at`. */
  readonly sequence: number;
  /** The current wallet. */
  readonly wallet: Wallet | null;
};

/** The credits that holds had set aside at `at`. Null if the customer has too many hold changes. */
async function listHeld(
  tx: Tx,
  name: WalletName,
  { at, wallet }: Moment,
): Promise<readonly { readonly grant: number; readonly credits: number }[] | null> {
  if (wallet === null || wallet.holdChanges > ENTRIES_MAX) return wallet === null ? [] : null;
  const holds = wallet.holdCount === 0 ? [] : await listHoldsOpenAt(tx, name, at);
  return holds.flatMap(({ items }) => items.flatMap(({ parts }) => parts));
}

/** Sums the credits left in each grant, including held credits. Null if entries are detached, or if too many entries precede the denial. */
async function sumFromStart(
  tx: Tx,
  name: WalletName,
  { sequence }: Moment,
): Promise<Map<number, number> | null> {
  return sequence > ENTRIES_MAX ? null : sumParts(tx, name, { after: 0, until: sequence });
}

/** Computes the same sums as `sumFromStart`, but backward from the current wallet. */
async function sumFromEnd(
  tx: Tx,
  name: WalletName,
  { sequence, wallet }: Moment,
): Promise<Map<number, number> | null> {
  if (wallet === null || wallet.sequence - sequence > ENTRIES_MAX) return null;
  const since = await sumParts(tx, name, { after: sequence, until: wallet.sequence });
  if (since === null) return null;
  const left = new Map(wallet.held.map(({ grant, credits }) => [grant, credits]));
  for (const { number, remaining } of wallet.grants) left.set(number, (left.get(number) ?? 0) + remaining);
  for (const [grant, sum] of since) left.set(grant, (left.get(grant) ?? 0) - sum);
  return left;
}

/** Decides the request in the same way as a check. Writes nothing. */
function decideNow(
  catalog: Catalog,
  wallet: Wallet,
  { feature, quantity, request }: Denial,
  clock: Instant,
): DenialExplanation["now"] {
  const requested = request === null ? [{ feature, quantity }] : parseItems(request.items);
  const decision = decide(catalog, wallet, requested, clock, null);
  if (decision.kind !== "decided") return null;
  const { allowed, reason, deniedItem } = decision;
  const item = decision.items[deniedItem ?? request?.deniedItem ?? 0];
  if (item === undefined) return null;
  const { balance = 0, resetsAt = null, limit = null, overage: left = null } = item.before ?? {};
  const creditsRequired = item.creditsBefore + item.creditsRequired;
  const overage =
    left === null ? null : { credits: left.credits, used: left.used, remaining: left.remaining };
  return {
    allowed,
    reason,
    feature: item.feature.key,
    creditsRequired,
    balance,
    overage,
    shortfall: shortfallIn({ reason, creditsRequired, balance, overage }),
    resetsAt: timeOrNull(resetsAt),
    limit: limit === null ? null : { ...limit, resetsAt: timeOrNull(limit.resetsAt) },
  };
}
