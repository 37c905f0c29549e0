import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Outlet, useMatch } from "@tanstack/react-router";
import { Fragment } from "react";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { describeHeld } from "../../format/holds.ts";
import { formatCount } from "../../format/numbers.ts";
import { describeOverage } from "../../format/overage.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { TabLink, TabLinks, TextLink } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/code-block.tsx";
import { Figure, Page } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { PlanStanding } from "../assignments/plan-standing.tsx";
import { findRenewal } from "../credits/grants.ts";
import { knownGrantsQuery } from "../ledger/queries.ts";
import { CustomerActions } from "./customer-actions.tsx";
import { type Customer, customerQuery, planVersionQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId");

const OVERVIEW = "/signed-in/projects/$projectId/$environment/customers/$customerId/";

const TABS = [
  { name: "Overview", to: "/projects/$projectId/$environment/customers/$customerId" },
  { name: "Ledger", to: "/projects/$projectId/$environment/customers/$customerId/ledger" },
  { name: "Grants", to: "/projects/$projectId/$environment/customers/$customerId/grants" },
  { name: "Holds", to: "/projects/$projectId/$environment/customers/$customerId/holds" },
  { name: "Usage", to: "/projects/$projectId/$environment/customers/$customerId/usage" },
  { name: "Requests", to: "/projects/$projectId/$environment/customers/$customerId/requests" },
  { name: "Plan history", to: "/projects/$projectId/$environment/customers/$customerId/plans" },
] as const;

/** Header and tabs of a customer. */
export function CustomerPage() {
  const scope = useScope();
  const { customerId } = route.useParams();
  const { data: customer } = useSuspenseQuery(customerQuery({ ...scope, customerId }));
  const params = { ...scope, customerId };
  // The overview has the full figures. On the other tabs, the same facts are one line.
  const isOverview = useMatch({ from: OVERVIEW, shouldThrow: false }) !== undefined;
  return (
    <Page
      title={customer.name ?? customer.customerId}
      heading={<Heading customer={customer} />}
      note={<Identity customer={customer} />}
      actions={<CustomerActions customer={customer} />}
    >
      {isOverview ? <CustomerStanding customer={customer} /> : <StandingLine customer={customer} />}
      <TabLinks label="Customer">
        {TABS.map(({ name, to }) => (
          <TabLink key={name} to={to} params={params} activeOptions={{ exact: name === "Overview" }}>
            {name}
          </TabLink>
        ))}
      </TabLinks>
      <Outlet />
    </Page>
  );
}

function Heading({ customer: { name, customerId, isBlocked } }: { customer: Customer }) {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      {name ?? customerId}
      {isBlocked && <Badge tone="bad">Blocked</Badge>}
    </span>
  );
}

function Identity({ customer: { customerId, email, billingReference } }: { customer: Customer }) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-0.5">
      <span className="-my-1.5 inline-flex min-w-0 items-center">
        <code className="font-mono wrap-anywhere">{customerId}</code>
        <CopyButton text={customerId} label="Copy ID" />
      </span>
      {email !== null && <span className="wrap-anywhere">{email}</span>}
      {billingReference !== null && (
        <span className="wrap-anywhere">
          Billing reference <code className="font-mono">{billingReference}</code>
        </span>
      )}
    </div>
  );
}

/** Balances, overage and plan in one line. */
function StandingLine({ customer: { balances, plan } }: { customer: Customer }) {
  const { data: pools } = useSuspenseQuery(poolsQuery(useScope()));
  const nameOf = (key: string): string => pools.find((pool) => pool.key === key)?.name ?? key;
  const isOnePool = balances.length === 1;
  const facts = [
    ...(balances.length === 0 ? [{ name: "Balance", value: "0", note: null }] : []),
    ...balances.flatMap(({ pool, balance, held, overage }) => [
      {
        name: isOnePool ? "Balance" : nameOf(pool),
        value: formatCount(balance),
        note: held > 0 ? describeHeld(held) : null,
      },
      ...(overage === null
        ? []
        : [
            {
              name: isOnePool ? "Overage used" : `Overage used (${nameOf(pool)})`,
              value: formatCount(overage.used),
              note: null,
            },
          ]),
    ]),
    { name: "Plan", value: plan?.name ?? "None", note: null },
  ];
  return (
    <dl className="-mt-3 flex flex-wrap gap-x-6 gap-y-1">
      {facts.map(({ name, value, note }) => (
        <div key={name} className="flex items-baseline gap-1.5">
          <dt className="text-muted">{name}</dt>
          <dd className="font-semibold">
            {value}
            {note !== null && <span className="ml-1.5 font-normal text-muted">{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

type ActivePlan = NonNullable<Customer["plan"]>;

/** Balances, overage and plan. */
function CustomerStanding({ customer }: { customer: Customer }) {
  const { customerId, balances, plan, nextPlan } = customer;
  const { data: pools } = useSuspenseQuery(poolsQuery(useScope()));
  const ofPool = (key: string): string =>
    balances.length === 1 ? "" : ` (${pools.find((pool) => pool.key === key)?.name ?? key})`;
  return (
    <div className="grid grid-cols-2 gap-2 sm:grid-cols-[repeat(auto-fit,minmax(14rem,1fr))] sm:gap-4">
      {balances.length === 0 && <Figure name="Balance" value="0" note="No credits yet" />}
      {balances.map(({ pool, balance, held, overage }) => (
        <Fragment key={pool}>
          <Figure
            name={`Balance${ofPool(pool)}`}
            value={formatCount(balance)}
            note={
              <>
                {plan === null ? (
                  "Cannot be spent without a plan"
                ) : (
                  <BalanceNote
                    plan={plan}
                    nextStart={nextPlan?.startsAt ?? null}
                    customerId={customerId}
                    pool={pool}
                    isEmpty={balance === 0}
                  />
                )}
                {held > 0 && <HeldNote held={held} customerId={customerId} />}
              </>
            }
          />
          {overage !== null && (
            <Figure
              name={`Overage used${ofPool(pool)}`}
              value={formatCount(overage.used)}
              note={
                <>
                  {describeOverage(overage)}
                  <div>To be invoiced. Not part of the balance.</div>
                </>
              }
            />
          )}
        </Fragment>
      ))}
      <Figure name="Plan" value={plan?.name ?? "None"} note={<PlanNote customer={customer} />} />
    </div>
  );
}

function BalanceNote({
  plan,
  nextStart,
  customerId,
  pool,
  isEmpty,
}: {
  plan: ActivePlan;
  nextStart: string | null;
  customerId: string;
  pool: string;
  isEmpty: boolean;
}) {
  const scope = useScope();
  const { data: version } = useQuery(planVersionQuery(scope, plan));
  const { data: known } = useQuery(knownGrantsQuery({ ...scope, customerId }));
  const allowance = version?.allowances.find((each) => each.pool === pool);
  const renewal = allowance === undefined ? null : findRenewal(allowance, known?.grants ?? []);
  // A plan that ends before the renewal does not renew.
  const ends = [plan.endsAt, nextStart].filter((end) => end !== null);
  const now = isEmpty ? "No credits left." : "Available now.";
  if (renewal === null || ends.some((end) => end <= renewal)) return now;
  return (
    <>
      {now} Renews <Time at={renewal} as="day" />.
    </>
  );
}

function HeldNote({ held, customerId }: { held: number; customerId: string }) {
  const scope = useScope();
  return (
    <div>
      <TextLink
        to="/projects/$projectId/$environment/customers/$customerId/holds"
        params={{ ...scope, customerId }}
      >
        {describeHeld(held)}
      </TextLink>
    </div>
  );
}

function PlanNote({ customer }: { customer: Customer }) {
  const { overrides } = customer;
  return (
    <>
      <PlanStanding customer={customer} />
      {overrides !== null && (
        <div>
          Has overrides
          {overrides.endsAt !== null && (
            <>
              {" until "}
              <Time at={overrides.endsAt} as="day" />
            </>
          )}
        </div>
      )}
    </>
  );
}
