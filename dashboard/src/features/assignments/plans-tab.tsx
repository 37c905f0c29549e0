import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { History } from "lucide-react";
import type { Scope } from "../../api/answer.ts";
import { plansQuery } from "../../api/catalog-lists.ts";
import { nameOfCreator } from "../../format/creator.ts";
import { Badge } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Card, EmptyState } from "../../ui/page.tsx";
import { type Column, csvColumn, ListTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { type CustomerScope, customerQuery } from "../customers/queries.ts";
import { ActorName } from "../ledger/ledger-links.tsx";
import { type Actor, type PlanChange, type PlanLine, planChangesQuery } from "../ledger/queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId/plans");

/** A customer's plan history, newest first. */
export function PlansTab() {
  const customerScope = route.useParams();
  const pages = useSuspenseInfiniteQuery(planChangesQuery(customerScope));
  const { data: plans } = useSuspenseQuery(plansQuery(customerScope));
  const { nextPlan } = useSuspenseQuery(customerQuery(customerScope)).data;
  const lines = pages.data.pages.flatMap(({ items }) => items);
  const periods = [
    ...(nextPlan === null ? [] : upcomingOf(lines)),
    ...toPeriods(lines.filter(hasTakenEffect), Date.now()),
  ];
  const names = new Map(plans.map(({ key, name }) => [key, name]));
  if (periods.length === 0) {
    return (
      <Card flush>
        <EmptyState icon={History} title="No plan yet">
          Assigned plans appear here. A default plan starts with the first request.
        </EmptyState>
      </Card>
    );
  }
  return (
    <Card flush>
      <ListTable
        label="Plan history"
        columns={columnsOf(customerScope, names)}
        rows={periods}
        keyOf={({ id }) => id}
        details={{
          label: ({ change: { plan } }) =>
            `Details of ${names.get(plan.key) ?? plan.key}, version ${plan.version}`,
          show: ({ changes }) => <CodeBlock label="these changes" code={JSON.stringify(changes, null, 2)} />,
        }}
        pages={pages}
        what="periods"
        about={customerScope.customerId}
        keepsOrder
      />
    </Card>
  );
}

const CHANGES = {
  started: "Started",
  resumed: "Resumed",
  extended: "Extended",
  version_changed: "New version",
  ended: "Ended",
  shortened: "Shortened",
  scheduled: "Scheduled",
  unscheduled: "Unscheduled",
} as const satisfies Record<PlanPeriod["change"]["change"], string>;

type Names = ReadonlyMap<string, string>;

function columnsOf({ projectId, environment }: CustomerScope, names: Names): Column<PlanPeriod>[] {
  const scope = { projectId, environment };
  return [
    {
      name: "Plan",
      isWide: true,
      csv: ({ change: { plan } }) => names.get(plan.key) ?? plan.key,
      cell: (period) => <Plan period={period} scope={scope} names={names} />,
    },
    csvColumn("Version", ({ change }) => change.plan.version),
    {
      name: "Change",
      hidesBelow: "md",
      csv: ({ change }) => CHANGES[change.change],
      cell: ({ change }) => CHANGES[change.change],
    },
    {
      name: "From",
      hidesBelow: "md",
      csv: ({ change }) => change.effectiveAt,
      cell: ({ change }) => <Time at={change.effectiveAt} />,
    },
    {
      name: "Until",
      hidesBelow: "md",
      csv: ({ until, change }) => until ?? change.endsAt,
      cell: (period) => <Until period={period} />,
    },
    {
      name: "By",
      hidesBelow: "md",
      csv: ({ by }) => by && nameOfCreator(by),
      cell: (period) => <By period={period} />,
    },
  ];
}

function Plan({ period, scope, names }: { period: PlanPeriod; scope: Scope; names: Names }) {
  const { change, id, isNow, isUpcoming } = period;
  const { key, version } = change.plan;
  return (
    <div className="flex items-baseline gap-2.5">
      <span
        aria-hidden
        className={classNames(
          "relative size-2.5 shrink-0 rounded-full border-2",
          isNow ? "border-accent bg-accent" : "border-line-strong",
          // Line to the newer entry above.
          id > 0 &&
            "before:absolute before:bottom-full before:left-0.5 before:mb-1 before:h-6 before:w-0.5 before:bg-line",
        )}
      />
      <div>
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <TextLink to="/projects/$projectId/$environment/plans/$key" params={{ ...scope, key }}>
            {names.get(key) ?? key}
          </TextLink>
          <span className="text-muted">version {version}</span>
          {isNow && <Badge tone="accent">Current</Badge>}
          {isUpcoming && <Badge>Upcoming</Badge>}
        </span>
        <div className="text-caption text-muted md:hidden">
          {CHANGES[change.change]} <Time at={change.effectiveAt} />
        </div>
      </div>
    </div>
  );
}

function Until({ period: { until, change, isNow, isUpcoming } }: { period: PlanPeriod }) {
  if (until !== null) return <Time at={until} />;
  if (change.endsAt !== null) return <Time at={change.endsAt} />;
  return <span className="text-muted">{isNow || isUpcoming ? "No end date" : ""}</span>;
}

function By({ period: { change, by, endedBy } }: { period: PlanPeriod }) {
  return (
    <>
      {by !== null ? (
        <ActorName actor={by} />
      ) : (
        <span className="text-muted">{change.isDefault ? "Default plan" : "Automatic"}</span>
      )}
      {endedBy !== null && (
        <div className="text-caption text-muted">
          ended by <ActorName actor={endedBy} />
        </div>
      )}
    </>
  );
}

/** Time between two plan changes. */
type PlanPeriod = {
  readonly id: number;
  readonly change: PlanChange;
  readonly by: Actor | null;
  /** Time of the next change; null for the current plan. */
  readonly until: string | null;
  /** The actor who ended the plan, if no plan replaced it. */
  readonly endedBy: Actor | null;
  readonly isNow: boolean;
  /** Scheduled, and not started yet. */
  readonly isUpcoming: boolean;
  /** All changes shown in this row. */
  readonly changes: readonly PlanChange[];
};

/** The pending change. Earlier scheduled changes were replaced, canceled or applied. */
function upcomingOf(lines: readonly PlanLine[]): PlanPeriod[] {
  const pending = lines.find(({ change: { change } }) => change === "scheduled");
  if (pending === undefined) return [];
  const { change, by } = pending;
  return [
    { id: -1, change, by, until: null, endedBy: null, isNow: false, isUpcoming: true, changes: [change] },
  ];
}

function hasTakenEffect({ change: { change } }: PlanLine): boolean {
  return change !== "scheduled" && change !== "unscheduled";
}

/** `lines` has the newest change first. The end of a plan is merged into the row of that plan, unless that row is on the next page. */
function toPeriods(lines: readonly PlanLine[], now: number): PlanPeriod[] {
  return lines.flatMap((line, index): PlanPeriod[] => {
    const { change, by } = line;
    const isLast = index === lines.length - 1;
    if (change.change === "ended" && !isLast) return [];
    const newer = lines[index - 1];
    const isEnded = newer?.change.change === "ended" && change.change !== "ended";
    const isReplaced = isEnded && lines[index - 2]?.change.recordedAt === newer.change.recordedAt;
    return [
      {
        id: index,
        change,
        by,
        until: newer === undefined ? null : newer.change.effectiveAt,
        endedBy: isEnded && !isReplaced ? newer.by : null,
        isUpcoming: false,
        isNow: newer === undefined && change.change !== "ended" && !isOver(change, now),
        changes: isEnded ? [newer.change, change] : [change],
      },
    ];
  });
}

/** An expired plan gets its `ended` entry on the next access. */
function isOver({ endsAt }: PlanChange, now: number): boolean {
  return endsAt !== null && Date.parse(endsAt) <= now;
}
