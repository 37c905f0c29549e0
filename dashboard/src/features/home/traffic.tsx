import { useQuery } from "@tanstack/react-query";
import { Activity } from "lucide-react";
import { type ReactNode, Suspense, useState } from "react";
import type { Answer } from "../../api/answer.ts";
import { inEnvironment } from "../../format/environments.ts";
import { describeTrend } from "../../format/forecast.ts";
import { formatCount } from "../../format/numbers.ts";
import { describeProblem, describeReason } from "../../format/request-sentences.ts";
import { usePoolNames, useScope } from "../../frame/use-scope.ts";
import { ButtonLink, TextLink } from "../../ui/button.tsx";
import { ViewSwitch } from "../../ui/choices.tsx";
import { lazyChart } from "../../ui/lazy.tsx";
import { EmptyState } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { LineOf, Lines, Nothing, Part } from "./part.tsx";
import { chargedQuery, type Hour, SERIES, summaryQuery } from "./queries.ts";

const TrafficChart = lazyChart(async () => (await import("./traffic-chart.tsx")).TrafficChart);

/** Requests by hour and outcome. */
export function Traffic() {
  const [view, setView] = useState<"chart" | "table">("chart");
  const query = useQuery(summaryQuery(useScope()));
  const isQuiet = query.data !== undefined && sumOf(query.data.total) === 0;
  return (
    <Part
      title="Last 24 hours"
      query={query}
      rows={7}
      actions={!isQuiet && <ViewSwitch view={view} onChange={setView} />}
    >
      {({ total, previous, byHour }) =>
        sumOf(total) === 0 ? (
          <Quiet />
        ) : (
          <>
            <dl className="flex flex-wrap gap-x-6 gap-y-3 sm:gap-x-10 px-4 pt-4">
              {SERIES.map(({ key, name, dot }) => (
                <Compared key={key} name={name} dot={dot} now={total[key]} before={previous[key]} />
              ))}
              <Charged />
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

/** A figure, compared with the previous 24 hours. */
function Compared({ name, dot, now, before }: { name: string; dot?: string; now: number; before: number }) {
  return (
    <div>
      <dt className="flex items-center gap-1.5 text-caption font-medium text-muted">
        {dot !== undefined && <span aria-hidden className={`size-2 rounded-full ${dot}`} />}
        {name}
      </dt>
      <dd className="flex flex-wrap items-baseline gap-x-2">
        <span className="text-figure font-semibold tracking-tight">{formatCount(now)}</span>
        <span className="text-caption text-muted" title={`Previous 24 hours: ${formatCount(before)}`}>
          {describeTrend(now, before)}
          <span className="sr-only"> compared with the previous 24 hours</span>
        </span>
      </dd>
    </div>
  );
}

/** Credits charged, by pool. Loaded separately, so that the chart does not wait for these figures. */
function Charged() {
  const { data: charged = [] } = useQuery(chargedQuery(useScope()));
  const nameOfPool = usePoolNames();
  return charged.map(({ pool, credits, before }) => (
    <Compared
      key={pool}
      name={charged.length === 1 ? "Credits charged" : `${nameOfPool(pool)} charged`}
      now={credits}
      before={before}
    />
  ));
}

function sumOf({ ok, denied, failed }: Answer<"summarizeRequests">["total"]): number {
  return ok + denied + failed;
}

function Quiet() {
  const scope = useScope();
  return (
    <EmptyState
      icon={Activity}
      title="No requests in the last 24 hours"
      action={
        <ButtonLink to="/projects/$projectId/$environment/first-event" params={scope}>
          {inEnvironment("Send an event", scope.environment, "to")}
        </ButtonLink>
      }
    >
      Requests from your backend appear here within a few seconds.
    </EmptyState>
  );
}

const COLUMNS: readonly Column<Hour>[] = [
  { name: "Hour", isWide: true, cell: ({ hour }) => <Time at={hour} /> },
  ...SERIES.map(({ key, name }) => ({ name, isNumber: true, cell: (hour: Hour) => formatCount(hour[key]) })),
];

/** Requests by hour, newest first. */
function TrafficTable({ hours }: { hours: readonly Hour[] }) {
  return (
    <div className="mt-3 max-h-96 overflow-y-auto border-t border-line">
      <Table
        label="Requests by hour"
        columns={COLUMNS}
        rows={hours.toReversed()}
        keyOf={({ hour }) => hour}
      />
    </div>
  );
}

type Outcome = Answer<"summarizeRequests">["byOutcome"][number];

export function Denials() {
  return (
    <Outcomes
      title="Denials by reason"
      none="No denials in the last 24 hours."
      by="reason"
      nameOf={describeReason}
      noteOf={({ endpoints }) => <span className="text-caption text-muted">{endpoints}</span>}
    />
  );
}

/** Client and server errors. */
export function Errors() {
  return (
    <Outcomes
      title="Errors by code"
      none="No errors in the last 24 hours."
      by="code"
      nameOf={describeProblem}
      noteOf={({ key }) => <code className="font-mono text-caption text-muted">{key}</code>}
    />
  );
}

function Outcomes({
  title,
  none,
  by,
  nameOf,
  noteOf,
}: {
  title: string;
  none: string;
  by: "reason" | "code";
  nameOf: (key: string) => string;
  noteOf: (group: Group) => ReactNode;
}) {
  const scope = useScope();
  const query = useQuery(summaryQuery(scope));
  return (
    <Part title={title} query={query}>
      {({ byOutcome }) => {
        const groups = groupBy(byOutcome, (outcome) => outcome[by]);
        if (groups.length === 0) return <Nothing>{none}</Nothing>;
        return (
          <Lines>
            {groups.map((group) => (
              <LineOf key={group.key} end={formatCount(group.requests)}>
                <TextLink
                  to="/projects/$projectId/$environment/requests"
                  params={scope}
                  search={{ [by]: group.key, range: "24h" }}
                >
                  {nameOf(group.key)}
                </TextLink>
                {noteOf(group)}
              </LineOf>
            ))}
          </Lines>
        );
      }}
    </Part>
  );
}

type Group = { key: string; endpoints: string; requests: number };

/** Groups over all endpoints, most frequent first. */
function groupBy(outcomes: readonly Outcome[], keyOf: (outcome: Outcome) => string | null): Group[] {
  const groups = Map.groupBy(outcomes, keyOf);
  return [...groups]
    .flatMap(([key, same]) =>
      key === null
        ? []
        : {
            key,
            endpoints: [...new Set(same.map(({ endpoint }) => endpoint))].join(", "),
            requests: same.reduce((sum, { requests }) => sum + requests, 0),
          },
    )
    .sort((a, b) => b.requests - a.requests);
}
