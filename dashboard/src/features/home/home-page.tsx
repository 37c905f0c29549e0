import { useQuery } from "@tanstack/react-query";
import type { Item } from "../../api/answer.ts";
import { CustomerLink, EventName, FeatureName, Outcome } from "../../frame/links.tsx";
import { useScope } from "../../frame/use-scope.ts";
import { TextLink } from "../../ui/button.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { RepeatedCharges, UnknownKeys } from "./attention.tsx";
import { LowBalances, RunningOut } from "./balances.tsx";
import { Onboarding, useOnboarding } from "./onboarding.tsx";
import { Nothing, Part } from "./part.tsx";
import { hasCustomersQuery, isDemoQuery, latestRequestsQuery, SUPPORT_CASES } from "./queries.ts";
import { Denials, Errors, Traffic } from "./traffic.tsx";

/** Current state of the environment, and onboarding until it is finished or dismissed. */
export function HomePage() {
  const scope = useScope();
  const requests = useQuery(latestRequestsQuery(scope));
  const hasCustomers = useQuery(hasCustomersQuery(scope));
  // Log entries are deleted after a week, so an empty log alone does not mean a new environment.
  const isFresh = requests.data?.length === 0 && hasCustomers.data === false;
  const isUnknown = requests.isPending || hasCustomers.isPending;
  const { isOver, dismiss } = useOnboarding(scope);
  return (
    <Page title="Home">
      {isUnknown ? (
        <SkeletonRows rows={12} />
      ) : (
        <>
          {!isOver && <Onboarding isFresh={isFresh} onDismiss={dismiss} />}
          {(!isFresh || isOver) && <Overview />}
        </>
      )}
    </Page>
  );
}

function Overview() {
  return (
    <>
      <SupportCases />
      <Traffic />
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <div className="grid min-w-0 gap-6">
          <RunningOut />
          <LowBalances />
          <Denials />
        </div>
        <div className="grid min-w-0 gap-6">
          <RepeatedCharges />
          <UnknownKeys />
          <Errors />
        </div>
      </div>
      <LatestRequests />
    </>
  );
}

/** Sample support cases in the demo data. */
function SupportCases() {
  const scope = useScope();
  const { data: isDemo } = useQuery(isDemoQuery(scope));
  if (isDemo !== true) return null;
  return (
    <Card flush title="Demo: sample support cases" note="Find out what happened and resolve each case.">
      <ul className="grid divide-y divide-line lg:grid-cols-3 lg:divide-x lg:divide-y-0">
        {SUPPORT_CASES.map(({ customerId, from, question }) => (
          <li key={customerId} className="flex flex-col gap-2 p-4">
            <blockquote className="wrap-anywhere">“{question}”</blockquote>
            <p className="mt-auto">
              <TextLink
                to="/projects/$projectId/$environment/customers/$customerId"
                params={{ ...scope, customerId }}
              >
                {from}
              </TextLink>
            </p>
          </li>
        ))}
      </ul>
    </Card>
  );
}

type Request = Item<"listRequests">;

const COLUMNS: readonly Column<Request>[] = [
  { name: "Time", hidesBelow: "md", cell: ({ recordedAt }) => <Time at={recordedAt} as="ago" /> },
  {
    name: "Outcome",
    cell: (request) => (
      <Outcome request={request}>
        <WhyCheck request={request} />
      </Outcome>
    ),
  },
  {
    name: "Request",
    isWide: true,
    cell: ({ endpoint, feature, event, customerId, customerName, recordedAt }) => (
      <>
        <span className="flex flex-wrap items-baseline gap-x-2">
          <span className="text-muted">{endpoint}</span>
          {feature !== null ? (
            <FeatureName feature={feature} />
          ) : (
            event !== null && <EventName event={event} />
          )}
        </span>
        <span className="text-caption text-muted md:hidden">
          {customerId !== null && `${customerName ?? customerId}, `}
          <Time at={recordedAt} as="ago" />
        </span>
      </>
    ),
  },
  {
    name: "Customer",
    isRowLink: true,
    hidesBelow: "md",
    cell: ({ customerId, customerName }) => (
      <CustomerLink customerId={customerId} name={customerName} width="max-w-64" />
    ),
  },
];

/** Link to the list in which a denied check is explained. */
function WhyCheck({ request: { endpoint, reason, customerId } }: { request: Request }) {
  const scope = useScope();
  if (endpoint !== "check" || reason === null || customerId === null) return null;
  return (
    <TextLink
      to="/projects/$projectId/$environment/customers/$customerId/requests"
      params={{ ...scope, customerId }}
      search={{ reason }}
    >
      Why?
    </TextLink>
  );
}

function LatestRequests() {
  const scope = useScope();
  const query = useQuery(latestRequestsQuery(scope));
  return (
    <Part
      title="Latest requests"
      query={query}
      rows={10}
      actions={
        <TextLink to="/projects/$projectId/$environment/requests" params={scope}>
          All requests
        </TextLink>
      }
    >
      {(requests) =>
        requests.length === 0 ? (
          <Nothing>No requests in the last 7 days.</Nothing>
        ) : (
          <Table label="Latest requests" columns={COLUMNS} rows={requests} keyOf={({ id }) => id} />
        )
      }
    </Part>
  );
}
