import type { Catalog } from "../../../service/src/entitlement/catalog.ts";
import { sumOf } from "../../../service/src/entitlement/part-lists.ts";
import { parseOverage } from "../../../service/src/store/cell/ledger.ts";
import { type Account, nameOf } from "./accounts.ts";
import { type HoldRow, openHoldsOf } from "./hold-rows.ts";
import type { StoredEntry } from "./stored.ts";
import type { Violation } from "./violation.ts";

/**
 * I4: used and held overage never exceed the plan's limit for a period. `purser verify` cannot see the limit at that time, and the
 * model stops at a customer's first violation. A run is shorter than a period, so the wallet still has all allowances.
 */
export function checkOverage(account: Account, catalog: Catalog): Violation[] {
  const { customerId, wallet, entries, holds } = account;
  const plans = [wallet.assignment ?? [], ...wallet.paused.map(({ assignment }) => assignment)].flat();
  return plans.flatMap(({ version, allowances }) =>
    allowances.flatMap(({ pool, grant }): Violation[] => {
      const limit = catalog.versions
        .get(version)
        ?.allowances.find((allowance) => allowance.pool === pool)?.overage;
      if (limit === undefined || limit === null) return [];
      let total = 0;
      const usedAt = new Map(
        entries.map((entry) => {
          total += countedBy(entry, grant);
          return [entry.sequence, total];
        }),
      );
      const complain = (name: string, used: number): Violation[] => {
        const text = `${name} leaves ${used} overage of grant ${grant}, but its plan allows ${limit}`;
        return used <= limit ? [] : [{ invariant: "I4", text }];
      };
      return [
        // The charges of a hold are complete only when its end is written.
        ...entries
          .filter((entry) => entry.kind === "consume" && entry.hold === null && countedBy(entry, grant) > 0)
          .flatMap((entry) => {
            const before = holds.filter(({ sequence }) => sequence < entry.sequence);
            return complain(
              nameOf(customerId, entry),
              (usedAt.get(entry.sequence) ?? 0) + heldBy(before, grant),
            );
          }),
        ...holds
          .filter(({ hold }) =>
            hold.items.some(({ overage }) => overage.some((part) => part.grant === grant)),
          )
          .flatMap((row) => {
            const rows = holds.filter(({ number }) => number <= row.number);
            const name = `hold ${row.hold.number} of ${customerId}, ${row.kind}`;
            return complain(name, (usedAt.get(row.sequence) ?? 0) + heldBy(rows, grant));
          }),
      ];
    }),
  );
}

/** The change that the entry makes to the overage counted by this grant. */
function countedBy({ kind, overageParts }: StoredEntry, grant: number): number {
  const own = parseOverage(overageParts).filter((part) => part.grant === grant);
  return kind === "reverse" ? -sumOf(own) : sumOf(own);
}

function heldBy(rows: readonly HoldRow[], grant: number): number {
  const held = openHoldsOf(rows).flatMap(({ hold }) => hold.items.flatMap(({ overage }) => overage));
  return sumOf(held.filter((part) => part.grant === grant));
}
