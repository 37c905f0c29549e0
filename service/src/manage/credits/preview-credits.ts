import { type Static, Type } from "typebox";
import { addCredits as decideCredits } from "../../entitlement/add-credits.ts";
import { buyingPower, findCurrentVersion } from "../../entitlement/buying-power.ts";
import type { Catalog } from "../../entitlement/catalog.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import { balanceOf, newWallet, type Wallet } from "../../entitlement/wallet.ts";
import type { Pool } from "../../postgres/pool.ts";
import type { Tx } from "../../postgres/statement.ts";
import { single } from "../../postgres/transaction.ts";
import {
  brandAs,
  type CustomerId,
  type CustomerNumber,
  type EnvironmentId,
  type Instant,
  type PoolId,
} from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { findActorsOfGrants, type GrantActor } from "../../store/cell/audit.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { readClock } from "../../store/cell/clock.ts";
import { type CustomerRecord, findCustomerRecord } from "../../store/cell/customer-list.ts";
import { mapCustomers, NO_CUSTOMER } from "../../store/cell/customers.ts";
import { findGrantRecord, type GrantRecord, listTwins } from "../../store/cell/grant-list.ts";
import { findGrantByReference } from "../../store/cell/grants.ts";
import { FIRST_POOL } from "../catalog/content.ts";
import { nullable, shownCustomerName, timeField, timeOrNull } from "../fields.ts";
import { readHistoryStart } from "../history-window.ts";
import { ActorName, nameActors } from "./actor-names.ts";
import { type AddCreditsInput, type AddCreditsOutcome, explainRefusal, isSameGrant } from "./add-credits.ts";

const Twin = Type.Object({
  grant: Type.Integer({ examples: [7] }),
  recordedAt: timeField,
  reference: nullable(Type.String({ examples: ["pi_3MtwBwLkdIwHu7ix"] })),
  by: nullable(ActorName),
});

export const CreditsPreview = Type.Object({
  outcome: Type.Enum(["added", "already_added", "refused"]),
  refusal: nullable(
    Type.Object(
      {
        code: Type.String({ examples: ["ends_in_the_past"] }),
        detail: Type.String({ examples: ["`expiresAt` must be in the future."] }),
      },
      { description: "The error that adding the credits would return." },
    ),
  ),
  createsCustomer: Type.Boolean({ description: "True if the customer does not exist yet." }),
  balanceBefore: nullable(
    Type.Integer({ description: "Null if the pool does not exist.", examples: [1250] }),
  ),
  balanceAfter: nullable(Type.Integer({ examples: [1750] })),
  expiresAt: nullable(timeField),
  plan: nullable(
    Type.String({
      description: "Null if the customer has no plan. The credits cannot be used until a plan is assigned.",
      examples: ["pro"],
    }),
  ),
  buys: Type.Array(
    Type.Object({
      feature: Type.String({ examples: ["image.generate"] }),
      name: Type.String({ examples: ["Image rendering"] }),
      unit: nullable(Type.String({ examples: ["image"] })),
      quantity: Type.Integer({ examples: [50] }),
    }),
    { description: "The quantity of each plan feature that the added credits would pay for." },
  ),
  twins: Type.Array(Twin, {
    description:
      "Identical credits added to this customer within the last ten minutes, excluding revoked grants.",
  }),
  referenceUsedBy: nullable(
    Type.Object(
      {
        customerId: nullable(
          Type.String({ description: "Null if the customer was erased.", examples: ["customer_42"] }),
        ),
        customerName: shownCustomerName,
        grant: Type.Integer({ examples: [7] }),
        credits: Type.Integer({ examples: [500] }),
        recordedAt: timeField,
        by: nullable(ActorName),
      },
      {
        description:
          "The grant that already uses the reference in this environment, if it is within the history window. `outcome` also considers " +
          "older grants.",
      },
    ),
  ),
});

export type CreditsPreview = Static<typeof CreditsPreview>;

const TWINS_WITHIN_MS = 600_000;
const TWINS_MAX = 10;

/** Returns what adding these credits would do. Writes nothing. */
export async function previewCredits(
  pools: { readonly cell: Pool; readonly control: Pool },
  { environmentId, workspaceId }: { readonly environmentId: EnvironmentId; readonly workspaceId: number },
  input: AddCreditsInput,
): Promise<CreditsPreview> {
  const { facts, kind, balanceBefore, use } = await single(pools.cell, async (tx) => {
    const facts = await readFacts(tx, environmentId, input);
    const { catalog, wallet, clock, pool } = facts;
    const viewed = viewWallet(catalog, wallet, clock);
    return {
      facts,
      kind: decide(facts, input),
      balanceBefore: pool === null ? null : balanceOf(viewed, pool),
      use: describeUse(catalog, viewed, pool, input.credits),
    };
  });
  const { customer, twins, earlier } = facts;
  const since = await readHistoryStart(pools.control, workspaceId);
  const [earlierBy, ...twinsBy] = await nameActors(pools.control, workspaceId, facts.actors);
  const shown = earlier === null || earlier.effectiveAt < (since ?? 0) ? null : earlier;
  const usedBy = shown === null ? null : { customerId: shown.customerId, grant: shown.number };
  const isRefused = kind !== "added" && kind !== "already_added";
  const refusal = isRefused ? explainRefusal(kind, { ...input, usedBy }) : null;
  const isAdded = kind === "added" && balanceBefore !== null;
  return {
    outcome: isRefused ? "refused" : kind,
    refusal: refusal === null ? null : { code: refusal.code, detail: refusal.detail },
    createsCustomer: customer === null,
    balanceBefore,
    balanceAfter: isAdded ? balanceBefore + input.credits : balanceBefore,
    expiresAt: timeOrNull(input.expiresAt),
    ...use,
    twins: twins.map(({ number, recordedAt, reference }, index) => ({
      grant: number,
      recordedAt: formatTimestamp(recordedAt),
      reference,
      by: twinsBy[index] ?? null,
    })),
    referenceUsedBy:
      shown === null
        ? null
        : {
            customerId: shown.customerId,
            customerName: shown.customerName,
            grant: shown.number,
            credits: shown.credits,
            recordedAt: formatTimestamp(shown.recordedAt),
            by: earlierBy ?? null,
          },
  };
}

type Facts = {
  readonly customer: CustomerRecord | null;
  readonly catalog: Catalog;
  readonly clock: Instant;
  readonly wallet: Wallet;
  readonly pool: PoolId | null;
  readonly twins: readonly GrantRecord[];
  readonly earlier: EarlierGrant | null;
  /** The actor of the earlier grant, followed by the actors of `twins`. */
  readonly actors: readonly (GrantActor | null)[];
};

type EarlierGrant = GrantRecord & {
  readonly customerNumber: CustomerNumber;
  readonly customerId: CustomerId | null;
  readonly customerName: string | null;
};

async function readFacts(tx: Tx, environmentId: EnvironmentId, input: AddCreditsInput): Promise<Facts> {
  const customer = await findCustomerRecord(tx, { environmentId, customerId: input.customerId });
  const catalog = await loadCatalog(tx, environmentId);
  const clock = await readClock(tx);
  const pool = findPool(catalog, input.pool);
  const { kind, credits, reference } = input;
  const since = brandAs<Instant>(clock - TWINS_WITHIN_MS);
  const twins =
    customer === null || pool === null
      ? []
      : await listTwins(
          tx,
          { environmentId, customerNumber: customer.customerNumber },
          { pool, kind, credits, since, limit: TWINS_MAX },
        );
  const earlier = reference === null ? null : await findEarlier(tx, environmentId, reference);
  const given = twins.map(({ number, recordedAt }) => ({
    customerNumber: customer?.customerNumber ?? brandAs<CustomerNumber>(0),
    number,
    recordedAt,
  }));
  const found = await findActorsOfGrants(tx, environmentId, earlier === null ? given : [earlier, ...given]);
  const actors = earlier === null ? [null, ...found] : found;
  const wallet = customer?.wallet ?? newWallet(clock);
  return { customer, catalog, clock, wallet, pool, twins, earlier, actors };
}

/** Placeholder for the first pool, which `addCredits` inserts on demand. No pool has this ID. */
const UNWRITTEN_POOL = brandAs<PoolId>(0);

function findPool({ version, pools }: Catalog, wanted: string): PoolId | null {
  if (version === 0 && wanted === FIRST_POOL.key) return UNWRITTEN_POOL;
  return [...pools.values()].find(({ key }) => key === wanted)?.id ?? null;
}

async function findEarlier(
  tx: Tx,
  environmentId: EnvironmentId,
  reference: string,
): Promise<EarlierGrant | null> {
  const found = await findGrantByReference(tx, environmentId, reference);
  if (found === null) return null;
  const { customerNumber } = found;
  const grant = await findGrantRecord(tx, { environmentId, customerNumber }, found.number);
  if (grant === null) return null;
  const customer =
    (await mapCustomers(tx, environmentId, [customerNumber])).get(customerNumber) ?? NO_CUSTOMER;
  return { ...grant, customerNumber, ...customer };
}

/** Checks in the same order as `addCredits`: pool, reference, wallet. */
function decide(facts: Facts, input: AddCreditsInput): AddCreditsOutcome["kind"] {
  const { customer, catalog, wallet, clock, pool, earlier } = facts;
  if (pool === null) return "pool_not_found";
  const { kind, credits, expiresAt } = input;
  if (earlier !== null) {
    const customerNumber = customer?.customerNumber ?? null;
    const isSame = isSameGrant(earlier, { customerNumber, kind, credits, pool });
    return isSame ? "already_added" : "reference_reused";
  }
  return decideCredits(catalog, wallet, { pool, kind, credits, expiresAt }, clock).kind;
}

function describeUse(
  catalog: Catalog,
  wallet: Wallet,
  pool: PoolId | null,
  credits: number,
): Pick<CreditsPreview, "plan" | "buys"> {
  const version = findCurrentVersion(catalog, wallet);
  const features = new Map([...catalog.features.values()].map((feature) => [feature.id, feature]));
  const buys = pool === null ? [] : buyingPower(version, wallet.overrides, { pool, credits });
  return {
    plan: version === null ? null : (catalog.plans.get(version.plan)?.key ?? null),
    buys: buys.flatMap(({ feature: id, quantity }) => {
      const feature = features.get(id);
      if (feature === undefined) return [];
      return [{ feature: feature.key, name: feature.name, unit: feature.unit, quantity }];
    }),
  };
}
