import { useSuspenseQuery } from "@tanstack/react-query";
import { plansQuery } from "../../api/catalog-lists.ts";
import { formatCount } from "../../format/numbers.ts";
import { describeStanding, leavesAt } from "../../format/plan-standing.ts";
import { formatDay } from "../../format/times.ts";
import { CustomerLink } from "../../frame/links.tsx";
import { useScope } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { type Column, csvColumn } from "../../ui/table.tsx";
import { Time, useClock } from "../../ui/time.tsx";
import { type Customer, nameOf } from "./queries.ts";

/** With only one pool, the balance column omits the pool name, and the API can sort by balance. */
export function customerColumns(pools: readonly { key: string; name: string }[]): Column<Customer>[] {
  return [
    {
      name: "Customer",
      isWide: true,
      isRowLink: true,
      orders: [
        { value: "name_asc", direction: "ascending" },
        { value: "name_desc", direction: "descending" },
      ],
      csv: nameOf,
      cell: (customer) => <Name customer={customer} />,
    },
    csvColumn("ID", ({ customerId }) => customerId),
    {
      name: "Email",
      hidesBelow: "xl",
      csv: ({ email }) => email,
      cell: ({ email }) => <span className="text-muted">{email}</span>,
    },
    {
      name: "Plan",
      csv: ({ plan }) => plan?.name ?? null,
      cell: (customer) => <Plan customer={customer} />,
    },
    csvColumn("Blocked", ({ isBlocked }) => (isBlocked ? "yes" : "no")),
    ...pools.map(({ key, name }): Column<Customer> => {
      const balanceOf = ({ balances }: Customer) => balances.find(({ pool }) => pool === key)?.balance ?? 0;
      return {
        name: pools.length === 1 ? "Balance" : name,
        id: `pool ${key}`,
        isNumber: true,
        ...(pools.length === 1 ? { orders: BALANCE_ORDERS } : {}),
        csv: balanceOf,
        cell: (customer) => formatCount(balanceOf(customer)),
      };
    }),
    {
      name: "Created",
      hidesBelow: "md",
      orders: [
        { value: "newest", direction: "descending" },
        { value: "oldest", direction: "ascending" },
      ],
      csv: ({ createdAt }) => createdAt,
      cell: ({ createdAt }) => <Time at={createdAt} as="day" />,
    },
  ];
}

const BALANCE_ORDERS = [
  { value: "balance_asc", direction: "ascending" },
  { value: "balance_desc", direction: "descending" },
] as const;

function Plan({ customer }: { customer: Customer }) {
  const { plan, isBlocked } = customer;
  const clock = useClock();
  const { data: plans } = useSuspenseQuery(plansQuery(useScope()));
  const fallback = plans.find(({ isDefault }) => isDefault)?.name ?? null;
  return (
    <>
      <span className="flex gap-1.5">
        {plan === null ? <span className="text-muted">No plan</span> : <Badge>{plan.name}</Badge>}
        {isBlocked && <Badge tone="bad">Blocked</Badge>}
      </span>
      {leavesAt(customer) !== null && (
        <div className="text-caption whitespace-normal text-muted md:min-w-44">
          {describeStanding(customer, fallback, (at) => formatDay(at, clock))}
        </div>
      )}
    </>
  );
}

function Name({ customer: { customerId, name } }: { customer: Customer }) {
  return (
    <div className="min-w-0">
      <CustomerLink customerId={customerId} name={name} />
      {name !== null && <div className="font-mono text-caption text-muted wrap-anywhere">{customerId}</div>}
    </div>
  );
}
