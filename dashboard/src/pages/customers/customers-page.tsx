import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { usePlace } from "../../frame/use-place.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { More } from "../../ui/more.tsx";
import { Page } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { Time } from "../../ui/time.tsx";
import { formatCount } from "../../words/numbers.ts";
import { BulkAssignButton } from "./bulk-assign-dialog.tsx";
import { CustomerFilterBar } from "./customer-filter-bar.tsx";
import { CustomersActions } from "./customers-actions.tsx";
import { NoCustomers, useReadOn } from "./no-customers.tsx";
import { type Customer, customersQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers");

export function CustomersPage() {
  const place = usePlace();
  const filters = route.useSearch();
  const { data: pools } = useSuspenseQuery(poolsQuery(place));
  const pages = useSuspenseInfiniteQuery(customersQuery(place, filters));
  const customers = pages.data.pages.flatMap(({ items }) => items);
  useReadOn(pages, customers.length === 0);
  return (
    <Page
      title="Customers"
      actions={
        <>
          {/* Always there: what it did is told in its dialog, also when nobody is left in the list after it. */}
          <BulkAssignButton filters={filters} isDisabled={customers.length === 0} />
          <CustomersActions />
        </>
      }
    >
      <Card flush>
        <CustomerFilterBar filters={filters} />
        {customers.length === 0 ? (
          <NoCustomers pages={pages} pagesRead={pages.data.pages.length} filters={filters} />
        ) : (
          <>
            <Table
              label="Customers"
              columns={columnsFor(pools)}
              rows={customers}
              keyOf={({ customerId }) => customerId}
            />
            <More pages={pages} shown={customers.length} what="customers" />
          </>
        )}
      </Card>
    </Page>
  );
}

/** Most environments have one pool, and then its name says nothing. */
function columnsFor(pools: readonly { key: string; name: string }[]): Column<Customer>[] {
  return [
    { name: "Customer", isWide: true, cell: (customer) => <Name customer={customer} /> },
    {
      name: "Email",
      hidesWhenNarrow: true,
      cell: ({ email }) => <span className="text-muted">{email}</span>,
    },
    {
      name: "Plan",
      cell: ({ plan, isBlocked }) => (
        <span className="flex gap-1.5">
          {plan === null ? <span className="text-muted">No plan</span> : <Badge>{plan.name}</Badge>}
          {isBlocked && <Badge tone="bad">Blocked</Badge>}
        </span>
      ),
    },
    ...pools.map(
      ({ key, name }): Column<Customer> => ({
        name: pools.length === 1 ? "Balance" : name,
        isNumber: true,
        cell: ({ balances }) => formatCount(balances.find(({ pool }) => pool === key)?.balance ?? 0),
      }),
    ),
    { name: "Since", hidesWhenNarrow: true, cell: ({ createdAt }) => <Time at={createdAt} as="day" /> },
  ];
}

function Name({ customer: { customerId, name } }: { customer: Customer }) {
  const place = usePlace();
  return (
    <div className="min-w-0">
      <TextLink
        to="/projects/$projectId/$environment/customers/$customerId"
        params={{ ...place, customerId }}
      >
        {name ?? customerId}
      </TextLink>
      {name !== null && <div className="font-mono text-caption text-muted wrap-anywhere">{customerId}</div>}
    </div>
  );
}
