import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { UsersRound } from "lucide-react";
import type { Item } from "../../api/answer.ts";
import { usePlace } from "../../frame/use-place.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { More } from "../../ui/more.tsx";
import { Page } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { Time } from "../../ui/time.tsx";
import { formatCount } from "../../words/numbers.ts";
import { customersQuery } from "./queries.ts";
import { customersRoute } from "./routes.tsx";

type Customer = Item<"listCustomers">;

const COLUMNS: readonly Column<Customer>[] = [
  { name: "Customer", isWide: true, cell: (customer) => <Name customer={customer} /> },
  {
    name: "Plan",
    cell: ({ plan, isBlocked }) => (
      <span className="flex gap-1.5">
        {plan === null ? <span className="text-muted">No plan</span> : <Badge>{plan.name}</Badge>}
        {isBlocked && <Badge tone="bad">Blocked</Badge>}
      </span>
    ),
  },
  {
    name: "Balance",
    isNumber: true,
    cell: ({ balances }) => formatCount(balances[0]?.balance ?? 0),
  },
  { name: "Since", hidesWhenNarrow: true, cell: ({ createdAt }) => <Time at={createdAt} as="day" /> },
];

export function CustomersPage() {
  const place = usePlace();
  const pages = useSuspenseInfiniteQuery(customersQuery(place, customersRoute.useSearch()));
  const customers = pages.data.pages.flatMap(({ items }) => items);
  return (
    <Page title="Customers">
      <Card flush>
        {customers.length === 0 ? (
          <EmptyState icon={UsersRound} title="No customers yet">
            A customer appears with its first plan, credits or event.
          </EmptyState>
        ) : (
          <>
            <Table
              label="Customers"
              columns={COLUMNS}
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

function Name({ customer: { customerId, name } }: { customer: Customer }) {
  const place = usePlace();
  return (
    <div>
      <TextLink
        to="/projects/$projectId/$environment/customers/$customerId"
        params={{ ...place, customerId }}
      >
        {name ?? customerId}
      </TextLink>
      {name !== null && <div className="font-mono text-caption text-muted">{customerId}</div>}
    </div>
  );
}
