import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import {
  BookCheck,
  ChevronLeft,
  ChevronRight,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  FileDown,
} from "lucide-react";
import type { ReactNode } from "react";
import { callOf } from "../../api/use-write.ts";
import { SectionTabs } from "../../frame/section-tabs.tsx";
import { useScope } from "../../frame/use-scope.ts";
import { Button, ButtonLink, IconButton, TextLink } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { classNames } from "../../ui/class-names.ts";
import { Select } from "../../ui/field.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import { WindowEdge } from "../../ui/usage/window-edge.tsx";
import {
  lastMonth,
  lastMonths,
  MONTH_PATH,
  type Month,
  monthAfter,
  monthQuery,
  nameOfMonth,
  thisMonth,
} from "./queries.ts";
import { addsUp, follows, rollForward, rollForwardCsv } from "./roll-forward.ts";
import { OverageTable, RollForwardTable } from "./roll-forward-table.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/usage/month-end");

/** Monthly statement of all credits, for finance. */
export function MonthEndPage() {
  const scope = useScope();
  const { month = lastMonth() } = route.useSearch();
  const { data, error, refetch } = useQuery(monthQuery(scope, month));
  return (
    <Page
      title="Monthly statement"
      heading="Usage"
      note="Credits for all customers, by month (UTC)."
      actions={
        <>
          <PageCode
            json={data && { label: "the statement", value: data }}
            call={callOf("get", MONTH_PATH, { params: { path: { ...scope, month } } })}
          />
          <ButtonLink
            to="/projects/$projectId/$environment/usage/exports"
            params={scope}
            search={{ kind: "ledger", month }}
          >
            Export ledger
          </ButtonLink>
          <Button
            icon={FileDown}
            isDisabled={data === undefined || data.lines.length + data.overage.length === 0}
            onClick={() => data !== undefined && save(data, scope.environment)}
          >
            Download CSV
          </Button>
        </>
      }
    >
      <SectionTabs section="Usage" />
      <MonthPicker month={month} />
      <ProblemCallout error={error} onRetry={refetch} />
      {data === undefined && error === null && (
        <Card
          flush
          title={nameOfMonth(month)}
          note="Adding up the credits of every customer. In a large project, this can take several seconds."
        >
          <SkeletonRows rows={5} />
        </Card>
      )}
      {data !== undefined && (
        <>
          <Card flush title={nameOfMonth(month)}>
            {data.lines.length === 0 ? <NoCredits month={month} /> : <RollForwardTable month={data} />}
          </Card>
          {data.overage.length > 0 && <Overage month={data} />}
          {data.lines.length > 0 && <MonthChecks month={data} />}
        </>
      )}
    </Page>
  );
}

function save(month: Month, environment: string): void {
  const state = month.isFinal ? "" : "-so-far";
  saveFile(`month-end-${environment}-${month.month}${state}.csv`, rollForwardCsv(month), "text/csv");
}

function NoCredits({ month }: { month: string }) {
  const scope = useScope();
  return (
    <EmptyState
      icon={BookCheck}
      title={`No credits in ${nameOfMonth(month)}`}
      action={
        <ButtonLink to="/projects/$projectId/$environment/customers" params={scope}>
          Go to Customers
        </ButtonLink>
      }
    >
      No customer had, received or spent credits during this month.
    </EmptyState>
  );
}

function Overage({ month }: { month: Month }) {
  const scope = useScope();
  // The end of the month, not `month.to`: in the current month, charts would round `to` down to 15 minutes.
  const to = `${monthAfter(month.month, 1)}-01T00:00:00.000Z`;
  return (
    <Card
      flush
      title="Overage"
      note="Usage after all credits are spent. Not included in the balances."
      actions={
        <TextLink
          to="/projects/$projectId/$environment/usage"
          params={scope}
          search={{ what: "overage", groupBy: "customer", from: month.from, to }}
        >
          View by customer
        </TextLink>
      }
    >
      <OverageTable month={month} />
    </Card>
  );
}

const OFFERED = 24;

function MonthPicker({ month }: { month: string }) {
  const navigate = route.useNavigate();
  const go = (to: string): void => void navigate({ search: { month: to }, resetScroll: false });
  const offered = lastMonths(OFFERED);
  return (
    <div className="flex items-center gap-1">
      <IconButton icon={ChevronLeft} label="Previous month" onClick={() => go(monthAfter(month, -1))} />
      <div className="w-44">
        <Select
          label="Month"
          isLabelHidden
          value={month}
          options={(offered.includes(month) ? offered : [month, ...offered]).map((value) => ({
            value,
            label: nameOfMonth(value),
          }))}
          onChange={({ target }) => go(target.value)}
        />
      </div>
      <IconButton
        icon={ChevronRight}
        label="Next month"
        isDisabled={month >= thisMonth()}
        onClick={() => go(monthAfter(month, 1))}
      />
    </div>
  );
}

type State = "sound" | "wrong" | "open" | "unchecked";

/** Checks on the statement. */
function MonthChecks({ month }: { month: Month }) {
  const isSound = rollForward(month.lines).every(({ amounts }) => addsUp(amounts));
  const isCut = month.from > `${month.month}-01T00:00:00.000Z`;
  return (
    <Card title="Checks">
      <ul className="flex flex-col gap-2">
        <Check state={isSound ? "sound" : "wrong"}>
          {isSound ? (
            "Every line adds up: opening + granted − used − expired − revoked + reversed = closing."
          ) : (
            <>
              A line does not add up. Run <code className="font-mono">purser verify</code> to find the
              affected customer.
            </>
          )}
        </Check>
        <Before month={month} isCut={isCut} />
        <Finality month={month} isCut={isCut} />
      </ul>
      {isCut && month.windowStart !== null && (
        <div className="pt-4">
          <WindowEdge windowStart={month.windowStart}>
            The opening balance is the balance at the start of the history window.
          </WindowEdge>
        </div>
      )}
    </Card>
  );
}

function Before({ month, isCut }: { month: Month; isCut: boolean }) {
  const before = monthAfter(month.month, -1);
  const { data, error } = useQuery({ ...monthQuery(useScope(), before), enabled: !isCut });
  const name = nameOfMonth(before);
  if (isCut)
    return <Check state="unchecked">{name} is outside the history window and cannot be compared.</Check>;
  if (error !== null)
    return <Check state="unchecked">{name} could not be loaded, so it was not compared.</Check>;
  if (data === undefined) return <Check state="open">Comparing with {name}…</Check>;
  return follows(month, data) ? (
    <Check state="sound">Opening balances equal the closing balances of {name}.</Check>
  ) : (
    <Check state="wrong">Opening balances differ from the closing balances of {name}.</Check>
  );
}

function Finality({ month: { isFinal, completeTo, to }, isCut }: { month: Month; isCut: boolean }) {
  if (isFinal) return <Check state="sound">The month is closed. The figures are final.</Check>;
  if (isCut && completeTo === to)
    return (
      <Check state="unchecked">
        Your history window starts during this month, so the figures can change.
      </Check>
    );
  return (
    <Check state="open">
      Complete up to <Time at={completeTo} />. Includes expiries and renewals that are due but not yet
      recorded.
    </Check>
  );
}

const LOOKS = {
  sound: { icon: CircleCheck, ink: "text-good", words: "Passed" },
  wrong: { icon: CircleAlert, ink: "text-bad", words: "Failed" },
  open: { icon: CircleDashed, ink: "text-muted", words: "Pending" },
  unchecked: { icon: CircleDashed, ink: "text-muted", words: "Not checked" },
} as const satisfies Record<State, unknown>;

function Check({ state, children }: { state: State; children: ReactNode }) {
  const { icon: Icon, ink, words } = LOOKS[state];
  return (
    <li className="flex gap-2">
      <Icon className={classNames("mt-0.5 size-4 shrink-0", ink)} aria-hidden />
      <span>
        <span className="sr-only">{words}: </span>
        {children}
      </span>
    </li>
  );
}
