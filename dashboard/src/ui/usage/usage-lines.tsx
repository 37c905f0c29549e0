import type { ReactNode } from "react";
import { formatCount } from "../../format/numbers.ts";
import { GROUP_NAMES, type Measure, type Source } from "../../format/usage-search.ts";
import { Card } from "../page.tsx";
import { type Column, csvColumn, ListTable } from "../table.tsx";
import type { Series, UsageShown } from "./usage-series.ts";

const COUNTED = {
  charges: "Charges",
  overage: "Charges",
  events: "Events",
  denials: "Denials",
} as const satisfies Record<Source, string>;
const MEASURED = { credits: "Credits", quantity: "Quantity", count: null } as const satisfies Record<
  Measure,
  string | null
>;

/** Totals per group, largest first. Also the legend of the chart. */
export function UsageLines({
  shown,
  lines = shown.series,
  children,
}: {
  shown: UsageShown;
  /** More groups than the chart shows. */
  lines?: readonly Series[];
  /** Renders the name of a group, usually as a link. */
  children: (line: Series) => ReactNode;
}) {
  const { settings } = shown;
  const label = `By ${settings.groupBy}`;
  // Reversals can make a group's total negative. Shares are of the sum of the positive totals.
  const all = lines.reduce((sum, line) => sum + Math.max(0, line.total[settings.by]), 0);
  const measured = MEASURED[settings.by];
  const columns: Column<Series>[] = [
    {
      name: settings.field ?? GROUP_NAMES[settings.groupBy],
      isWide: true,
      isRowLink: true,
      csv: ({ name }) => name,
      cell: (line) => (
        <span className="flex min-w-0 items-center gap-2">
          <span aria-hidden className="size-2.5 shrink-0 rounded-full" style={{ background: line.fill }} />
          <span className="min-w-0 wrap-anywhere">
            {line.isOther ? <span className="text-muted">{line.name}</span> : children(line)}
          </span>
        </span>
      ),
    },
    csvColumn("Key or ID", ({ key }) => key),
    {
      name: "Share",
      hidesBelow: "md",
      cell: (line) =>
        line.total[settings.by] > 0 && <Share share={line.total[settings.by] / all} fill={line.fill} />,
    },
    {
      name: COUNTED[settings.source],
      isNumber: true,
      ...(measured === null ? {} : { hidesBelow: "md" as const }),
      csv: ({ total }) => total.count,
      cell: (line) => formatCount(line.total.count),
    },
    ...(measured === null
      ? []
      : [
          {
            name: measured,
            isNumber: true,
            csv: (line: Series) => line.total[settings.by],
            cell: (line: Series) => formatCount(line.total[settings.by]),
          },
        ]),
  ];
  return (
    <Card flush title={label}>
      <ListTable
        label={`Usage ${label.toLowerCase()}`}
        columns={columns}
        rows={lines}
        keyOf={({ id }) => id}
        what="groups"
        cutAt={lines.some(({ isOther }) => isOther) ? lines.length - 1 : undefined}
      />
    </Card>
  );
}

function Share({ share, fill }: { share: number; fill: string }) {
  const percent = Math.round(share * 100);
  return (
    <span className="flex items-center gap-2">
      <span aria-hidden className="h-1.5 w-32 overflow-hidden rounded-full bg-sunken lg:w-64">
        <span className="block h-full rounded-full" style={{ width: `${percent}%`, background: fill }} />
      </span>
      <span className="w-9 text-right text-muted">{percent === 0 ? "<1" : percent}%</span>
    </span>
  );
}
