import { expect, onTestFinished, test } from "vitest";
import { createDatabase, createTestProject } from "../../../test/harness.ts";
import { openTestPool } from "../../../test/seed.ts";
import type { Catalog } from "../../entitlement/catalog.ts";
import { decide, type Reason } from "../../entitlement/decide.ts";
import { Fold } from "../../entitlement/fold.ts";
import { transaction } from "../../postgres/transaction.ts";
import { assert } from "../../primitives/assert.ts";
import {
  brandAs,
  type CustomerId,
  type CustomerNumber,
  type EnvironmentId,
  type FeatureKey,
  type Instant,
  type ProjectId,
} from "../../primitives/brand.ts";
import { DAY_MS } from "./act.ts";
import { COMPANIES, LIMITED, PAID_IN_VAIN, RICH_COMPANY, TWICE_CHARGED } from "./companies.ts";
import { liveCompany } from "./company-life.ts";
import { sellDemoCatalog } from "./demo-catalog.ts";
import { findCharge, type Moment } from "./moment.ts";
import { simulate } from "./simulate.ts";

const at = (text: string): Instant => brandAs<Instant>(Date.parse(text));

/** The catalog is published before all start dates below. */
async function setupCatalog(): Promise<Catalog> {
  const database = await createDatabase();
  const {
    projectId,
    test: { environmentId },
  } = await createTestProject(database);
  const cell = openTestPool(database.url);
  onTestFinished(() => cell.end());
  const actor = { kind: "command", id: null, requestId: null } as const;
  const context = { projectId, environmentId, actor };
  const catalog = await transaction(cell, (tx) => sellDemoCatalog(tx, context, at("2025-01-01T00:00:00Z")));
  assert(catalog !== null, "the environment had no catalog before");
  return catalog;
}

function simulateAll(catalog: Catalog, now: Instant): Map<string, readonly Moment[]> {
  const world = { projectId: brandAs<ProjectId>(1), catalog };
  return new Map(
    COMPANIES.map((company, index) => {
      const customer = {
        environmentId: brandAs<EnvironmentId>(1),
        customerId: brandAs<CustomerId>(company.id),
        customerNumber: brandAs<CustomerNumber>(index + 1),
      };
      return [company.id, simulate(world, customer, liveCompany(company, now))];
    }),
  );
}

function denials(moments: readonly Moment[] | undefined, reason: Reason, since: number): number {
  const rows = (moments ?? []).filter((moment) => moment.at >= since).flatMap((moment) => moment.denials);
  return rows.filter((row) => row.reason === reason).length;
}

/** The first mismatch that `purser verify` would report, or null. */
function findFlaw(moments: readonly Moment[], catalog: Catalog): string | null {
  const wallet = moments.at(-1)?.wallet;
  assert(wallet !== undefined, "every company has at least one act");
  const grants = moments.flatMap((moment) =>
    moment.changes.grants.map(({ grant }) => ({
      ...grant,
      slot: grant.mergedInto ?? grant.number,
      isRevoked: false,
    })),
  );
  const held = wallet.held.reduce((sum, { credits }) => sum + credits, 0);
  const balance = wallet.grants.reduce((sum, { remaining }) => sum + remaining, held);
  const fold = new Fold({
    wallet,
    balance,
    grants,
    overrides: [],
    holdChanges: moments.flatMap(({ changes }) => changes.holds.map(({ change }) => change)),
    versions: catalog.versions,
  });
  const entries = moments.flatMap(({ changes }) => changes.ledger.map(({ entry }) => entry));
  for (const entry of entries) {
    const { reverses = null, quantity = 0 } = entry.usage ?? {};
    // Entries are stored in order of sequence, without gaps.
    const consume = reverses === null ? undefined : entries[reverses - 1];
    const reversed = consume && {
      ...consume,
      reversedQuantity: quantity,
      reversedCredits: entry.amount,
      reversedOverage: 0,
    };
    const flaw = fold.add(entry, reversed ?? null);
    if (flaw !== null) return flaw;
  }
  return fold.finish();
}

// Ends of months, a leap day, and times just after midnight.
const DAYS = [
  "2026-01-01T00:00:30Z",
  "2026-02-28T23:59:59Z",
  "2026-03-01T12:00:00Z",
  "2026-03-31T06:49:00Z",
  "2026-05-17T10:20:00Z",
  "2026-11-02T08:30:00Z",
  "2028-02-29T17:05:00Z",
];

test("for any start date, the demo has valid wallets, all three support cases and requests on the last day", async () => {
  const catalog = await setupCatalog();
  for (const day of DAYS) {
    const now = at(day);
    const lives = simulateAll(catalog, now);
    for (const [id, moments] of lives) expect(findFlaw(moments, catalog), `${id} on ${day}`).toBeNull();
    const twice = lives.get(TWICE_CHARGED) ?? [];
    const charges = [1, 2].map((attempt) => findCharge(twice, `job_7c41e90b/attempt-${attempt}`));
    expect(
      charges.map((charge) => charge?.row.entry.amount),
      day,
    ).toEqual([-50, -50]);
    expect(denials(lives.get(LIMITED), "limit_reached", now - 4 * DAY_MS), day).toBeGreaterThanOrEqual(4);
    const unpaid = denials(lives.get(PAID_IN_VAIN), "insufficient_credits", now - 5 * DAY_MS);
    expect(unpaid, day).toBeGreaterThanOrEqual(3);
    const asked = [...lives.values()].flat().filter(({ at }) => at > now - DAY_MS);
    const count = (outcome: string): number =>
      asked.filter(({ logged }) => (logged?.code ?? logged?.reason ?? "ok") === outcome).length;
    // The home page shows every outcome.
    expect(count("ok"), day).toBeGreaterThan(60);
    for (const outcome of ["insufficient_credits", "feature_not_found", "idempotency_key_reused"])
      expect(count(outcome), `${outcome} on ${day}`).toBeGreaterThan(1);
  }
});

test("the customer in the printed curl command has credits for months", async () => {
  const catalog = await setupCatalog();
  const now = at("2026-11-02T08:30:00Z");
  const wallet = simulateAll(catalog, now).get(RICH_COMPANY)?.at(-1)?.wallet ?? null;
  for (const days of [0, 1, 31, 365]) {
    const question = { feature: brandAs<FeatureKey>("image.generate"), quantity: 1 };
    const decision = decide(catalog, wallet, [question], brandAs<Instant>(now + days * DAY_MS));
    expect(decision).toMatchObject({ allowed: true, items: [{ creditsRequired: 10 }] });
  }
});

test("the same start time produces the same demo", () => {
  const now = at("2026-11-02T08:30:00Z");
  for (const company of COMPANIES) expect(liveCompany(company, now)).toEqual(liveCompany(company, now));
});
