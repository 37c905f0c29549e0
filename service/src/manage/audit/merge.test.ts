import fc from "fast-check";
import { expect, test } from "vitest";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import type { AuditRecord, AuditScan } from "../../store/control/audit-scan.ts";
import { merge } from "./list-audit.ts";

type Row = { readonly id: string; readonly isMatch: boolean };

const toRecord = (id: string): AuditRecord => ({
  id,
  recordedAt: brandAs<Instant>(0),
  actor: { kind: "system", id: null, requestId: null },
  action: "a",
  subject: "s",
  environmentId: null,
  customerNumber: null,
  before: null,
  after: null,
});

/** Scans rows in the same way as the store. */
function scan(rows: readonly Row[], before: string | null, count: number): AuditScan {
  const looked = rows.filter(({ id }) => before === null || id < before).slice(0, count);
  return {
    records: looked.filter(({ isMatch }) => isMatch).map(({ id }) => toRecord(id)),
    horizon: looked.length < count ? null : (looked.at(-1)?.id ?? null),
  };
}

test("for any sources and scan limits, the merged pages contain all matches in order", () => {
  const rows = fc
    .uniqueArray(
      fc.record({ id: fc.integer({ min: 0, max: 999 }), isMatch: fc.boolean(), source: fc.nat(2) }),
      { selector: ({ id }) => id, maxLength: 60 },
    )
    .map((all) =>
      all
        .map(({ id, ...row }) => ({ id: String(id).padStart(3, "0"), ...row }))
        .sort((a, b) => (a.id < b.id ? 1 : -1)),
    );
  fc.assert(
    fc.property(
      rows,
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 0, max: 10 }),
      (all, limit, more) => {
        const sources = [0, 1, 2].map((source) => all.filter((row) => row.source === source));
        const seen: string[] = [];
        let before: string | null = null;
        for (let pages = 0; ; pages++) {
          expect(pages).toBeLessThanOrEqual(all.length + 1);
          const page = merge(
            sources.map((source) => scan(source, before, limit + 1 + more)),
            limit,
          );
          expect(page.records.length).toBeLessThanOrEqual(limit);
          seen.push(...page.records.map(({ id }) => id));
          if (page.next === null) break;
          before = page.next;
        }
        expect(seen).toEqual(all.filter(({ isMatch }) => isMatch).map(({ id }) => id));
      },
    ),
  );
});
