import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Outlet } from "@tanstack/react-router";
import { usePlace } from "../../frame/use-place.ts";
import { Badge } from "../../ui/badge.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Page } from "../../ui/page.tsx";
import { TabLink, TabLinks } from "../../ui/tab-link.tsx";
import { CustomerActions } from "./customer-actions.tsx";
import { CustomerStanding } from "./customer-standing.tsx";
import { type Customer, customerQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId");

/** What stands over all of a customer's tabs. */
export function CustomerPage() {
  const place = usePlace();
  const { customerId } = route.useParams();
  const { data: customer } = useSuspenseQuery(customerQuery(place, customerId));
  const params = { ...place, customerId };
  return (
    <Page
      title={customer.name ?? customer.customerId}
      heading={<Heading customer={customer} />}
      note={<Identity customer={customer} />}
      actions={<CustomerActions customer={customer} />}
    >
      <CustomerStanding customer={customer} />
      <TabLinks label="About this customer">
        <TabLink
          to="/projects/$projectId/$environment/customers/$customerId"
          params={params}
          activeOptions={{ exact: true }}
        >
          Overview
        </TabLink>
        <TabLink to="/projects/$projectId/$environment/customers/$customerId/ledger" params={params}>
          Ledger
        </TabLink>
        <TabLink to="/projects/$projectId/$environment/customers/$customerId/grants" params={params}>
          Grants
        </TabLink>
        <TabLink to="/projects/$projectId/$environment/customers/$customerId/usage" params={params}>
          Usage
        </TabLink>
        <TabLink to="/projects/$projectId/$environment/customers/$customerId/requests" params={params}>
          Requests
        </TabLink>
        <TabLink to="/projects/$projectId/$environment/customers/$customerId/plans" params={params}>
          Plan history
        </TabLink>
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
    <div className="flex flex-wrap items-center gap-x-4">
      <span className="inline-flex min-w-0 items-center">
        <code className="font-mono wrap-anywhere">{customerId}</code>
        <CopyButton text={customerId} label="Copy the id" />
      </span>
      {email !== null && <span className="wrap-anywhere">{email}</span>}
      {billingReference !== null && (
        <span className="wrap-anywhere">
          Billing <code className="font-mono">{billingReference}</code>
        </span>
      )}
    </div>
  );
}
