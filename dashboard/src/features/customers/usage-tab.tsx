import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ChartColumn } from "lucide-react";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { narrowTo } from "../../format/usage-search.ts";
import { useEventNames, useFeatureNames, usePoolNames, useScope } from "../../frame/use-scope.ts";
import { LinkButton, TextLink } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { EmptyState } from "../../ui/page.tsx";
import { useClock } from "../../ui/time.tsx";
import { hasUsage, UsageCard, UsageFigures } from "../../ui/usage/usage-card.tsx";
import { type UsageChange, UsageFilters } from "../../ui/usage/usage-filters.tsx";
import { UsageLines } from "../../ui/usage/usage-lines.tsx";
import { useUsage } from "../../ui/usage/usage-series.ts";
import { readCustomerUsage } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId/usage");

/** The usage page for one customer. */
export function UsageTab() {
  const scope = useScope();
  const clock = useClock();
  const { customerId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: pools = [] } = useQuery(poolsQuery(scope));
  const names = {
    feature: useFeatureNames()(search.feature ?? ""),
    event: useEventNames()(search.event ?? ""),
    pool: usePoolNames()(search.pool ?? ""),
  };
  const { settings, shown, error, refetch } = useUsage(scope, { ...search, customerId });
  const change = (changed: UsageChange): void =>
    void navigate({ search: (before) => readCustomerUsage({ ...before, ...changed }), resetScroll: false });
  const narrow = (at: string): void => change(narrowTo(at, settings, clock));
  const { customerId: _, ...filters } = settings.filters;
  return (
    <>
      <div className="flex flex-wrap items-start justify-between gap-3">
        <UsageFilters
          search={search}
          settings={{ ...settings, filters }}
          fields={[]}
          pools={pools}
          names={names}
          groups={(group) => group !== "customer"}
          onChange={change}
        />
        <TextLink to="/projects/$projectId/$environment/usage/events" params={scope} search={{ customerId }}>
          View events
        </TextLink>
      </div>
      <ProblemCallout error={error} onRetry={refetch} />
      {shown !== null && (
        <>
          {hasUsage(shown) && <UsageFigures shown={shown} onNarrow={narrow} />}
          <UsageCard shown={shown} onNarrow={narrow} nothing={<Nothing />} />
          {shown.series.length > 0 && shown.settings.groupBy !== "nothing" && (
            <UsageLines shown={shown}>
              {({ key, name }) =>
                key === null ? (
                  name
                ) : shown.settings.groupBy === "feature" || shown.settings.groupBy === "event" ? (
                  <LinkButton onClick={() => change({ [shown.settings.groupBy]: key })}>{name}</LinkButton>
                ) : shown.settings.groupBy === "member" && shown.settings.source === "events" ? (
                  <TextLink
                    to="/projects/$projectId/$environment/usage/events"
                    params={scope}
                    search={{ customerId, memberId: key }}
                  >
                    {name}
                  </TextLink>
                ) : (
                  name
                )
              }
            </UsageLines>
          )}
        </>
      )}
    </>
  );
}

function Nothing() {
  return (
    <EmptyState icon={ChartColumn} title="No usage in this range">
      Try a longer range or other filters.
    </EmptyState>
  );
}
