import { useQuery } from "@tanstack/react-query";
import { Activity } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { Answer } from "../../api/answer.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ViewSwitch } from "../../ui/view-switch.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { formatCount } from "../../words/numbers.ts";
import { Part } from "./part.tsx";
import { summaryQuery } from "./queries.ts";
import { SERIES } from "./series.ts";
import { TrafficTable } from "./traffic-table.tsx";

const TrafficChart = lazy(() =>
  import("./traffic-chart.tsx").then(({ TrafficChart }) => ({ default: TrafficChart })),
);

/** How it went, hour by hour. */
export function Traffic() {
  const [view, setView] = useState<"chart" | "table">("chart");
  const query = useQuery(summaryQuery(usePlace()));
  const isQuiet = query.data !== undefined && sumOf(query.data.total) === 0;
  return (
    <Part
      title="The last 24 hours"
      query={query}
      rows={7}
      actions={!isQuiet && <ViewSwitch view={view} onChange={setView} />}
    >
      {({ total, byHour }) =>
        sumOf(total) === 0 ? (
          <Quiet />
        ) : (
          <>
            <dl className="flex flex-wrap gap-x-6 gap-y-3 sm:gap-x-10 px-4 pt-4">
              {SERIES.map(({ key, name, dot }) => (
                <div key={key}>
                  <dt className="flex items-center gap-1.5 text-caption font-medium text-muted">
                    <span aria-hidden className={`size-2 rounded-full ${dot}`} />
                    {name}
                  </dt>
                  <dd className="text-figure font-semibold tracking-tight">{formatCount(total[key])}</dd>
                </div>
              ))}
            </dl>
            {view === "table" ? (
              <TrafficTable hours={byHour} />
            ) : (
              <div className="h-56 px-4 pt-2 pb-3">
                <Suspense>
                  <TrafficChart hours={byHour} />
                </Suspense>
              </div>
            )}
          </>
        )
      }
    </Part>
  );
}

function sumOf({ ok, denied, failed }: Answer<"summarizeRequests">["total"]): number {
  return ok + denied + failed;
}

function Quiet() {
  const place = usePlace();
  return (
    <EmptyState
      icon={Activity}
      title="No requests in the last 24 hours"
      action={
        <ButtonLink to="/projects/$projectId/$environment/first-event" params={place}>
          {inEnvironment("Send one", place.environment)}
        </ButtonLink>
      }
    >
      What your backend asks is counted here, hour by hour, about a second after the answer.
    </EmptyState>
  );
}
