import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ChartColumn, FileDown, FilterX } from "lucide-react";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { toQuery, USAGE_PATH } from "../../api/usage.ts";
import { callOf } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { momentsOf } from "../../format/usage-range.ts";
import { narrowTo, readUsageSearch, type UsageAsked, type UsageSearch } from "../../format/usage-search.ts";
import { usePlace } from "../../frame/use-here.ts";
import { Button, ButtonLink, LinkButton, TextLink } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { ApiCall } from "../../ui/code-block.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { useClock } from "../../ui/time.tsx";
import { hasUsage, UsageCard, UsageFigures } from "../../ui/usage/usage-card.tsx";
import { type UsageChange, UsageFilters } from "../../ui/usage/usage-filters.tsx";
import { UsageLines } from "../../ui/usage/usage-lines.tsx";
import { type Series, useUsage } from "../../ui/usage/usage-series.ts";
import { metadataFieldsQuery } from "./queries.ts";
import { UsageTabs } from "./usage-tabs.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/usage");

/** Usage chart with drill-down. */
export function UsagePage() {
  const place = usePlace();
  const clock = useClock();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { asked, shown, error, refetch } = useUsage(place, search);
  const { data: fields = [] } = useQuery(metadataFieldsQuery(place));
  const { data: pools = [] } = useQuery(poolsQuery(place));
  const change = (changed: UsageChange): void =>
    void navigate({ search: (before) => readUsageSearch({ ...before, ...changed }), resetScroll: false });
  const narrow = (at: string): void => change(narrowTo(at, asked, clock));
  return (
    <Page
      title="Usage"
      actions={
        asked.source !== "denials" && (
          <ButtonLink
            icon={FileDown}
            to="/projects/$projectId/$environment/usage/exports"
            params={place}
            search={{ kind: asked.source, ...momentsOf(asked, Date.now()) }}
          >
            Export
          </ButtonLink>
        )
      }
    >
      <UsageTabs />
      <UsageFilters search={search} asked={asked} fields={fields} pools={pools} onChange={change} />
      <ProblemCallout error={error} onRetry={refetch} />
      {shown !== null && (
        <>
          {hasUsage(shown) && <UsageFigures shown={shown} onNarrow={narrow} />}
          <UsageCard
            shown={shown}
            onNarrow={narrow}
            nothing={<NoUsage asked={shown.asked} onClear={() => change(NOT_FILTERED)} />}
          />
          {shown.series.length > 0 && shown.asked.groupBy !== "nothing" && (
            <Card flush>
              <UsageLines label={`By ${shown.asked.groupBy}`} shown={shown}>
                {(line) => <LineName line={line} asked={shown.asked} search={search} onChange={change} />}
              </UsageLines>
            </Card>
          )}
        </>
      )}
      <ApiCall
        call={callOf("get", USAGE_PATH, { params: { path: place, query: toQuery(asked) } })}
        title="API call"
      />
    </Page>
  );
}

const NOT_FILTERED: UsageChange = {
  feature: undefined,
  pool: undefined,
  event: undefined,
  customerId: undefined,
};

/** Name of a group with its drill-down: customers of a feature, page of a customer, or the events. */
function LineName({
  line: { key, name },
  asked,
  search,
  onChange,
}: {
  line: Series;
  asked: UsageAsked;
  search: UsageSearch;
  onChange: (change: UsageChange) => void;
}) {
  const place = usePlace();
  const { groupBy, source, field } = asked;
  if (key === null) return name;
  if (groupBy === "customer") {
    const { customerId: _customer, groupBy: _group, field: _field, ...others } = search;
    return (
      <TextLink
        to="/projects/$projectId/$environment/customers/$customerId/usage"
        params={{ ...place, customerId: key }}
        search={others}
      >
        {name}
      </TextLink>
    );
  }
  if (groupBy === "feature" || groupBy === "event") {
    return (
      <LinkButton onClick={() => onChange({ [groupBy]: key, groupBy: "customer" })}>
        {name}
        {name !== key && <code className="ml-2 font-mono text-caption font-normal text-muted">{key}</code>}
      </LinkButton>
    );
  }
  if (groupBy === "metadata" && source === "events") {
    const { event, customerId, range, from, to } = search;
    return (
      <TextLink
        to="/projects/$projectId/$environment/usage/events"
        params={place}
        search={{
          metadata: `${field}=${key}`,
          ...(event === undefined ? {} : { event }),
          ...(customerId === undefined ? {} : { customerId }),
          ...(from === undefined || to === undefined ? { range: range ?? "30d" } : { from, to }),
        }}
      >
        {name}
      </TextLink>
    );
  }
  if (groupBy === "reason") {
    return (
      <TextLink to="/projects/$projectId/$environment/requests" params={place} search={{ reason: key }}>
        {name}
      </TextLink>
    );
  }
  return name;
}

const TITLES = {
  charges: "No charges in this range",
  events: "No events in this range",
  denials: "No denials in this range",
} as const;

const WHY = {
  charges: "Charges appear within seconds.",
  events: "Events appear within seconds.",
  denials: "Denials are grouped by reason.",
} as const;

function NoUsage({ asked: { source, filters }, onClear }: { asked: UsageAsked; onClear: () => void }) {
  const place = usePlace();
  if (Object.keys(filters).length > 0) {
    return (
      <EmptyState
        icon={FilterX}
        title={TITLES[source]}
        action={<Button onClick={onClear}>Clear filters</Button>}
      >
        Try a longer range or other filters.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={ChartColumn}
      title={TITLES[source]}
      action={
        source !== "denials" && (
          <ButtonLink to="/projects/$projectId/$environment/first-event" params={place}>
            {inEnvironment("Send an event", place.environment)}
          </ButtonLink>
        )
      }
    >
      {WHY[source]}
    </EmptyState>
  );
}
