import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { FileDown } from "lucide-react";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { pathIn } from "../../api/path-in.ts";
import { toQuery } from "../../api/usage.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Page } from "../../ui/page.tsx";
import { useClock } from "../../ui/preferences.ts";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { hasUsage, UsageCard } from "../../ui/usage/usage-card.tsx";
import { UsageFigures } from "../../ui/usage/usage-figures.tsx";
import { type UsageChange, UsageFilters } from "../../ui/usage/usage-filters.tsx";
import { UsageLines } from "../../ui/usage/usage-lines.tsx";
import { useUsage } from "../../ui/usage/use-usage.ts";
import { narrowTo } from "../../words/narrow-usage.ts";
import { momentsOf } from "../../words/usage-range.ts";
import { readUsageSearch } from "../../words/usage-search.ts";
import { LineName } from "./line-name.tsx";
import { NoUsage } from "./no-usage.tsx";
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
  const query = new URLSearchParams(toQuery(asked));
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
        call={{ method: "GET", path: `${pathIn(place, "usage")}?${query}` }}
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
