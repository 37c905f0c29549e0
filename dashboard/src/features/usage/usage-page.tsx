import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ChartColumn, FileDown, FilterX } from "lucide-react";
import type { ReactNode } from "react";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { toQuery, USAGE_PATH } from "../../api/usage.ts";
import { callOf } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { momentsOf } from "../../format/usage-range.ts";
import {
  narrowTo,
  readUsageSearch,
  type UsageSearch,
  type UsageSettings,
} from "../../format/usage-search.ts";
import { useCustomerName } from "../../frame/customer-picker.tsx";
import { SectionTabs } from "../../frame/section-tabs.tsx";
import { useEventNames, useFeatureNames, usePoolNames, useScope } from "../../frame/use-scope.ts";
import { Button, ButtonLink, LinkButton, TextLink } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { EmptyState, Page } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { useClock } from "../../ui/time.tsx";
import { hasUsage, UsageCard, UsageFigures } from "../../ui/usage/usage-card.tsx";
import { type UsageChange, UsageFilters } from "../../ui/usage/usage-filters.tsx";
import { UsageLines } from "../../ui/usage/usage-lines.tsx";
import { type Series, type UsageShown, useUsage } from "../../ui/usage/usage-series.ts";
import { customerLines } from "./customer-lines.ts";
import { metadataFieldsQuery, rankedQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/usage");

/** Usage chart with drill-down. */
export function UsagePage() {
  const scope = useScope();
  const clock = useClock();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { settings, shown, error, refetch } = useUsage(scope, search);
  const { data: fields = [] } = useQuery(metadataFieldsQuery(scope));
  const { data: pools = [] } = useQuery(poolsQuery(scope));
  const names = {
    customerId: useCustomerName(scope, search.customerId ?? ""),
    feature: useFeatureNames()(search.feature ?? ""),
    event: useEventNames()(search.event ?? ""),
    pool: usePoolNames()(search.pool ?? ""),
  };
  const change = (changed: UsageChange): void =>
    void navigate({ search: (before) => readUsageSearch({ ...before, ...changed }), resetScroll: false });
  const narrow = (at: string): void => change(narrowTo(at, settings, clock));
  return (
    <Page
      title="Usage"
      note="Credits, events and denials over time."
      actions={
        <>
          <PageCode call={callOf("get", USAGE_PATH, { params: { path: scope, query: toQuery(settings) } })} />
          {settings.source !== "denials" && (
            <ButtonLink
              icon={FileDown}
              to="/projects/$projectId/$environment/usage/exports"
              params={scope}
              search={{ kind: EXPORTS[settings.source], ...momentsOf(settings, Date.now()) }}
            >
              Export
            </ButtonLink>
          )}
        </>
      }
    >
      <SectionTabs section="Usage" />
      <UsageFilters
        search={search}
        settings={settings}
        fields={fields}
        pools={pools}
        names={names}
        groups={(group) => group !== "member"}
        onChange={change}
      />
      <ProblemCallout error={error} onRetry={refetch} />
      {shown !== null && (
        <>
          {hasUsage(shown) && <UsageFigures shown={shown} onNarrow={narrow} />}
          <UsageCard
            shown={shown}
            onNarrow={narrow}
            nothing={<NoUsage settings={shown.settings} onClear={() => change(NOT_FILTERED)} />}
          />
          {shown.series.length > 0 && shown.settings.groupBy !== "nothing" && (
            <GroupLines shown={shown}>
              {(line) => <LineName line={line} settings={shown.settings} search={search} onChange={change} />}
            </GroupLines>
          )}
        </>
      )}
    </Page>
  );
}

/** The groups in the chart. If grouped by customer, also lists customers that the chart omits, loaded with the same settings. */
function GroupLines({ shown, children }: { shown: UsageShown; children: (line: Series) => ReactNode }) {
  const { groupBy, filters } = shown.settings;
  const isRanked = groupBy === "customer" && filters.customerId === undefined;
  const { data } = useQuery({ ...rankedQuery(useScope(), shown.settings), enabled: isRanked });
  // A disabled query still returns its cached data.
  const lines = isRanked && data !== undefined ? customerLines(shown, data) : shown.series;
  return (
    <UsageLines shown={shown} lines={lines}>
      {children}
    </UsageLines>
  );
}

/** The export with the rows that a chart adds up. */
const EXPORTS = { charges: "charges", overage: "charges", events: "events" } as const;

const NOT_FILTERED: UsageChange = {
  feature: undefined,
  pool: undefined,
  event: undefined,
  customerId: undefined,
};

/** Name of a group with its drill-down: customers who use a feature, a customer's page, or the events. */
function LineName({
  line: { key, name },
  settings,
  search,
  onChange,
}: {
  line: Series;
  settings: UsageSettings;
  search: UsageSearch;
  onChange: (change: UsageChange) => void;
}) {
  const scope = useScope();
  const { groupBy, source, field } = settings;
  if (key === null) return name;
  if (groupBy === "customer") {
    const { customerId: _customer, groupBy: _group, field: _field, ...others } = search;
    return (
      <TextLink
        to="/projects/$projectId/$environment/customers/$customerId/usage"
        params={{ ...scope, customerId: key }}
        search={others}
      >
        {name}
        {name !== key && <Key>{key}</Key>}
      </TextLink>
    );
  }
  if (groupBy === "feature" || groupBy === "event") {
    return (
      <LinkButton onClick={() => onChange({ [groupBy]: key, groupBy: "customer" })}>
        {name}
        {name !== key && <Key>{key}</Key>}
      </LinkButton>
    );
  }
  if (groupBy === "metadata" && source === "events") {
    const { event, customerId, range, from, to } = search;
    return (
      <TextLink
        to="/projects/$projectId/$environment/usage/events"
        params={scope}
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
      <TextLink to="/projects/$projectId/$environment/requests" params={scope} search={{ reason: key }}>
        {name}
      </TextLink>
    );
  }
  return name;
}

/** The key or ID of a group, beside its name. Screen readers need the space between them. */
function Key({ children }: { children: string }) {
  return (
    <>
      {" "}
      <code className="ml-1 font-mono text-caption font-normal text-muted">{children}</code>
    </>
  );
}

const TITLES = {
  charges: "No charges in this range",
  overage: "No overage in this range",
  events: "No events in this range",
  denials: "No denials in this range",
} as const;

const WHY = {
  charges: "Charges appear within seconds.",
  overage: "Overage is usage after all credits are spent, if the plan allows it.",
  events: "Events appear within seconds.",
  denials: "Denials are grouped by reason.",
} as const;

function NoUsage({
  settings: { source, filters },
  onClear,
}: {
  settings: UsageSettings;
  onClear: () => void;
}) {
  const scope = useScope();
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
        (source === "charges" || source === "events") && (
          <ButtonLink to="/projects/$projectId/$environment/first-event" params={scope}>
            {inEnvironment("Send an event", scope.environment, "to")}
          </ButtonLink>
        )
      }
    >
      {WHY[source]}
    </EmptyState>
  );
}
