import { lazy, type ReactNode, Suspense, useState } from "react";
import { BUCKET_WORDS } from "../../words/bucket-words.ts";
import { nameOfClock } from "../../words/moments.ts";
import { Card } from "../card.tsx";
import { useClock } from "../preferences.ts";
import { Time } from "../time.tsx";
import { type View, ViewSwitch } from "../view-switch.tsx";
import type { UsageShown } from "./usage-series.ts";
import { UsageTable } from "./usage-table.tsx";
import { WindowEdge } from "./window-edge.tsx";

const UsageChart = lazy(() =>
  import("./usage-chart.tsx").then(({ UsageChart }) => ({ default: UsageChart })),
);

/** Also where something was only reversed. */
export function hasUsage({ usage }: UsageShown): boolean {
  return Object.values(usage.total).some((sum) => sum !== 0);
}

/** The same numbers as bars or as a table, up to where history is shown. */
export function UsageCard({
  shown,
  onNarrow,
  nothing,
}: {
  shown: UsageShown;
  /** To one of the bars. */
  onNarrow: (at: string) => void;
  /** What stands there where nothing was used. */
  nothing: ReactNode;
}) {
  const clock = useClock();
  const [view, setView] = useState<View>("chart");
  const { asked, usage, rows } = shown;
  const isEmpty = !hasUsage(shown) && rows.every(({ total }) => total === 0);
  const hasEdge = rows.some(({ isBefore }) => isBefore);
  const isHidden = hasEdge && rows.every(({ isBefore }) => isBefore);
  return (
    <Card
      flush
      title={`${asked.name} ${BUCKET_WORDS[asked.bucket].toLowerCase()}`}
      note={
        <>
          Complete to <Time at={usage.completeTo} as="second" />, by {nameOfClock(clock)}
        </>
      }
      actions={!isEmpty && <ViewSwitch view={view} onChange={setView} />}
    >
      {isEmpty && !hasEdge ? (
        nothing
      ) : isHidden ? null : view === "table" ? (
        <UsageTable shown={shown} onNarrow={onNarrow} />
      ) : (
        <div className="min-h-72 px-4 pt-2 pb-3">
          <Suspense>
            <UsageChart shown={shown} onNarrow={onNarrow} />
          </Suspense>
        </div>
      )}
      {hasEdge && usage.windowStart !== null && (
        <div className={isHidden ? "p-4" : "px-4 pb-4"}>
          <WindowEdge
            title={isHidden ? "History begins later" : "History begins here"}
            windowStart={usage.windowStart}
          />
        </div>
      )}
    </Card>
  );
}
