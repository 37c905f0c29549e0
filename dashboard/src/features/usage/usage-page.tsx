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

/** What was used, of what, by whom and when: each number leads on to what it is made of. */
export function UsagePage() {
  const place = usePlace();
  const clock = useClock();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { asked, shown, error } = useUsage(place, search);
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
      <ProblemCallout error={error} />
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
        title="Read this by API"
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

/** A line's name, and what a click on it looks at next: a feature's customers, a customer's own page, the events behind. */
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
  charges: "Nothing was charged in this time",
  events: "No usage events in this time",
  denials: "Nobody was denied in this time",
} as const;

const WHY = {
  charges: "Charges are counted here seconds after your backend's consume is answered.",
  events: "Events are counted here by their own time, seconds after they are recorded.",
  denials: "Which is mostly good news. Denials are counted here by their reason.",
} as const;

function NoUsage({ asked: { source, filters }, onClear }: { asked: UsageAsked; onClear: () => void }) {
  const place = usePlace();
  if (Object.keys(filters).length > 0) {
    return (
      <EmptyState
        icon={FilterX}
        title={TITLES[source]}
        action={<Button onClick={onClear}>Clear the filters</Button>}
      >
        At least nothing that the filters let through. A longer range may have some.
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
            {inEnvironment("Send something", place.environment)}
          </ButtonLink>
        )
      }
    >
      {WHY[source]}
    </EmptyState>
  );
}
