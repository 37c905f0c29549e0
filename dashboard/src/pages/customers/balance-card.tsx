import { lazy, type ReactNode, Suspense } from "react";
import { Card } from "../../ui/card.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { formatChange, formatCount } from "../../words/numbers.ts";
import type { BalancePoint } from "./balance-history.ts";

const BalanceChart = lazy(() =>
  import("./balance-chart.tsx").then(({ BalanceChart }) => ({ default: BalanceChart })),
);

const COLUMNS: readonly Column<BalancePoint>[] = [
  { name: "When", cell: ({ at }) => <Time at={new Date(at).toISOString()} /> },
  { name: "What", isWide: true, cell: ({ entry }) => entry?.what },
  { name: "Change", isNumber: true, cell: ({ entry }) => formatChange(entry?.amount ?? 0) },
  { name: "Balance", isNumber: true, cell: ({ balance }) => formatCount(balance) },
];

export function BalanceCard({
  title,
  proof,
  points,
  hasEarlier,
}: {
  title: string;
  proof: ReactNode;
  points: readonly BalancePoint[];
  /** Whether anything moved before what is shown. */
  hasEarlier: boolean;
}) {
  const changes = points.filter(({ entry }) => entry !== null);
  return (
    <Card title={title} note={proof} actions={<Legend points={points} />}>
      {changes.length === 0 ? (
        <p className="py-6 text-center text-muted">
          {hasEarlier
            ? "Nothing has changed the balance lately."
            : "Nothing has changed the balance yet. The first plan or top-up begins the line."}
        </p>
      ) : (
        <div className="flex flex-col gap-3">
          <div className="h-56">
            <Suspense>
              <BalanceChart points={points} />
            </Suspense>
          </div>
          <Disclosure title={`The latest ${formatCount(changes.length)} changes as a table`}>
            <div className="max-h-96 overflow-y-auto rounded-md border border-line">
              <Table
                label={`${title}, as a table`}
                columns={COLUMNS}
                rows={changes.toReversed()}
                keyOf={({ entry }) => entry?.sequence ?? 0}
              />
            </div>
          </Disclosure>
        </div>
      )}
    </Card>
  );
}

function Legend({ points }: { points: readonly BalancePoint[] }) {
  if (!points.some(({ isTopUp }) => isTopUp)) return null;
  return (
    <span className="inline-flex items-center gap-1.5 text-caption text-muted">
      <span aria-hidden className="size-2 rounded-full bg-good" />
      Top-up
    </span>
  );
}
