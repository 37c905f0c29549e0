import { type Static, Type } from "typebox";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import type { CustomerId, EnvironmentId } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import { listAssignmentRecords } from "../../store/cell/assignments.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { findCustomerRecord } from "../../store/cell/customer-list.ts";
import { nullable, timeField } from "../fields.ts";
import { CatalogNames, PlanName } from "./catalog-names.ts";

export const PlanChange = Type.Object({
  change: Type.Enum(["started", "resumed", "extended", "version_changed", "ended", "shortened"]),
  plan: PlanName,
  isDefault: Type.Boolean({
    description: "True for the environment's default plan, false for an assigned one.",
  }),
  anchor: timeField,
  endsAt: nullable(timeField),
  effectiveAt: timeField,
  recordedAt: timeField,
});

export type PlanChange = Static<typeof PlanChange>;

export type PlanChangePage = { readonly changes: readonly PlanChange[]; readonly next: number | null };

/** Newest first, older than the change `before`. Null: the customer does not exist. */
export function listPlanChanges(
  cell: Pool,
  environmentId: EnvironmentId,
  customerId: CustomerId,
  page: { readonly before: number | null; readonly limit: number },
): Promise<PlanChangePage | null> {
  return single(cell, async (tx) => {
    const customer = await findCustomerRecord(tx, { environmentId, customerId });
    if (customer === null) return null;
    const names = new CatalogNames(await loadCatalog(tx, environmentId));
    const found = await listAssignmentRecords(
      tx,
      { environmentId, customerNumber: customer.customerNumber },
      { before: page.before ?? Number.MAX_SAFE_INTEGER, limit: page.limit + 1 },
    );
    const shown = found.slice(0, page.limit);
    const changes = shown.map(
      ({ change, planVersion, isDefault, anchor, endsAt, effectiveAt, recordedAt }): PlanChange => ({
        change,
        plan: names.plan(planVersion),
        isDefault,
        anchor: formatTimestamp(anchor),
        endsAt: endsAt === null ? null : formatTimestamp(endsAt),
        effectiveAt: formatTimestamp(effectiveAt),
        recordedAt: formatTimestamp(recordedAt),
      }),
    );
    return { changes, next: found.length > page.limit ? (shown.at(-1)?.id ?? null) : null };
  });
}
