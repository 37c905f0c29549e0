import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Outlet } from "@tanstack/react-router";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { callOf } from "../../api/use-write.ts";
import { describeHeld } from "../../format/holds.ts";
import { formatCount } from "../../format/numbers.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { TabLink, TabLinks } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/code-block.tsx";
import { Page } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { CustomerActions } from "./customer-actions.tsx";
import { type Customer, customerQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId");

const CUSTOMER_PATH = "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}";

const TABS = [
  { name: "Overview", to: "/projects/$projectId/$environment/customers/$customerId" },
  { name: "Ledger", to: "/projects/$projectId/$environment/customers/$customerId/ledger" },
  { name: "Grants", to: "/projects/$projectId/$environment/customers/$customerId/grants" },
  { name: "Holds", to: "/projects/$projectId/$environment/customers/$customerId/holds" },
  { name: "Usage", to: "/projects/$projectId/$environment/customers/$customerId/usage" },
  { name: "Requests", to: "/projects/$projectId/$environment/customers/$customerId/requests" },
  { name: "Notices", to: "/projects/$projectId/$environment/customers/$customerId/notices" },
  { name: "Plan history", to: "/projects/$projectId/$environment/customers/$customerId/plans" },
] as const;

/** Header and tabs of a customer. */
export function CustomerPage() {
  const scope = useScope();
  const { customerId } = route.useParams();
  const { data: customer } = useSuspenseQuery(customerQuery({ ...scope, customerId }));
  const params = { ...scope, customerId };
  return (
    <Page
      title={customer.name ?? customer.customerId}
      heading={<Heading customer={customer} />}
      note={<Identity customer={customer} />}
      actions={
        <>
          <PageCode
            json={{ label: "the customer", value: customer }}
            call={callOf("get", CUSTOMER_PATH, { params: { path: params } })}
          />
          <CustomerActions customer={customer} />
        </>
      }
    >
      <StandingLine customer={customer} />
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

/** Balances, overage and plan in one line. Its height is the same on every tab, so that the tab bar does not move. */
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
