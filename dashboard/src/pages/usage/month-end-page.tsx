import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { BookCheck, FileDown } from "lucide-react";
import { pathIn } from "../../api/path-in.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Page } from "../../ui/page.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { MonthChecks } from "./month-checks.tsx";
import { MonthPicker } from "./month-picker.tsx";
import { lastMonth, nameOfMonth } from "./month-search.ts";
import { type Month, monthQuery } from "./queries.ts";
import { rollForwardCsv } from "./roll-forward.ts";
import { RollForwardTable } from "./roll-forward-table.tsx";
import { UsageTabs } from "./usage-tabs.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/usage/month-end");

/** How many credits there were, came and went: what finance closes a month with. */
export function MonthEndPage() {
  const place = usePlace();
  const { month = lastMonth() } = route.useSearch();
  const { data, error } = useQuery(monthQuery(place, month));
  const call = { method: "GET", path: pathIn(place, "months", month) } as const;
  return (
    <Page
      title="Month end"
      note="All customers' credits, by when things happened, in UTC. A month's closing is the next one's opening."
      actions={
        data !== undefined &&
        data.lines.length > 0 && (
          <>
            <ButtonLink
              to="/projects/$projectId/$environment/usage/exports"
              params={place}
              search={{ kind: "ledger", month }}
            >
              Export its ledger
            </ButtonLink>
            <Button icon={FileDown} onClick={() => save(data, place.environment)}>
              Download as CSV
            </Button>
          </>
        )
      }
    >
      <UsageTabs />
      <MonthPicker month={month} />
      <ProblemCallout error={error} />
      {data === undefined && error === null && <SkeletonRows rows={5} />}
      {data !== undefined && (
        <>
          <Card flush title={nameOfMonth(month)}>
            {data.lines.length === 0 ? <NoBooks month={month} /> : <RollForwardTable month={data} />}
          </Card>
          {data.lines.length > 0 && <MonthChecks month={data} />}
        </>
      )}
      <div className="flex flex-col items-start gap-3">
        {data !== undefined && (
          <Disclosure title="JSON">
            <CodeBlock label="the month as JSON" code={JSON.stringify(data, null, 2)} />
          </Disclosure>
        )}
        <ApiCall call={call} title="Read this by API" />
      </div>
    </Page>
  );
}

function save(month: Month, environment: string): void {
  const state = month.isFinal ? "" : "-so-far";
  saveFile(`month-end-${environment}-${month.month}${state}.csv`, rollForwardCsv(month), "text/csv");
}

function NoBooks({ month }: { month: string }) {
  const place = usePlace();
  return (
    <EmptyState
      icon={BookCheck}
      title={`No credits in ${nameOfMonth(month)}`}
      action={
        <ButtonLink to="/projects/$projectId/$environment/customers" params={place}>
          Customers
        </ButtonLink>
      }
    >
      Nobody had any, got any or spent any. The books begin with the first plan or top-up that a customer is
      given.
    </EmptyState>
  );
}
