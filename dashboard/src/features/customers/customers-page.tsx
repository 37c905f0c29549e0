import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { FileUp, Plus, SearchX, UsersRound } from "lucide-react";
import { useEffect, useState } from "react";
import { plansQuery, poolsQuery } from "../../api/catalog-lists.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { describeStanding, leavesAt } from "../../format/plan-standing.ts";
import { formatDay } from "../../format/times.ts";
import { CustomerLink } from "../../frame/links.tsx";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { Select } from "../../ui/field.tsx";
import { FilterField } from "../../ui/filter-field.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { type Column, PagedTable, type Pages } from "../../ui/table.tsx";
import { Time, useClock } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import { BulkAssignButton } from "../assignments/bulk-assign-form.tsx";
import { CustomerDialog } from "./customer-form.tsx";
import { ImportDialog } from "./import-form.tsx";
import { type Customer, type CustomerFilters, customersQuery, readFilters } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers");

export function CustomersPage() {
  const scope = useScope();
  const filters = route.useSearch();
  const { data: pools } = useSuspenseQuery(poolsQuery(scope));
  const pages = useSuspenseInfiniteQuery(customersQuery(scope, filters));
  const customers = pages.data.pages.flatMap(({ items }) => items);
  useLoadUntilFound(pages, customers.length === 0);
  return (
    <Page
      title="Customers"
      actions={
        <>
          {/* Always rendered: its dialog shows the result even if the list is empty afterwards. */}
          <BulkAssignButton filters={filters} isDisabled={customers.length === 0} />
          <CustomersActions />
        </>
      }
    >
      <Card flush>
        <CustomerFilterBar filters={filters} />
        <PagedTable
          label="Customers"
          columns={columnsFor(pools)}
          rows={customers}
          keyOf={({ customerId }) => customerId}
          pages={pages}
          what="customers"
          empty={<NoCustomers pages={pages} pagesRead={pages.data.pages.length} filters={filters} />}
        />
      </Card>
    </Page>
  );
}

/** With one pool, the balance column needs no pool name. */
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
      cell: (customer) => <Plan customer={customer} />,
    },
    ...pools.map(
      ({ key, name }): Column<Customer> => ({
        name: pools.length === 1 ? "Balance" : name,
        isNumber: true,
        cell: ({ balances }) => formatCount(balances.find(({ pool }) => pool === key)?.balance ?? 0),
      }),
    ),
    { name: "Created", hidesWhenNarrow: true, cell: ({ createdAt }) => <Time at={createdAt} as="day" /> },
  ];
}

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
        <div className="text-caption whitespace-normal text-muted">
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

const BLOCKED: Record<string, boolean> = { true: true, false: false };

/** Filters are kept in the URL, so that a list can be shared. */
function CustomerFilterBar({ filters }: { filters: CustomerFilters }) {
  const navigate = route.useNavigate();
  const { data: plans } = useSuspenseQuery(plansQuery(useScope()));
  function change(changed: Partial<Record<keyof CustomerFilters, unknown>>, replace = false): void {
    void navigate({ search: (before) => readFilters({ ...before, ...changed }), replace });
  }
  return (
    <search className="grid grid-cols-2 gap-2 border-b border-line p-3 sm:grid-cols-3 lg:grid-cols-[1fr_10rem_10rem_10rem]">
      <div className="col-span-full lg:col-span-1">
        <FilterField
          label="Search customers"
          type="search"
          placeholder="ID, name, email or billing reference"
          maxLength={255}
          value={filters.search ?? ""}
          onFilter={(search) => change({ search }, true)}
        />
      </div>
      <Select
        label="Plan"
        isLabelHidden
        value={filters.plan ?? ""}
        onChange={(event) => change({ plan: event.target.value })}
        options={[
          { value: "", label: "Any plan" },
          ...plans.map(({ key, name }) => ({ value: key, label: name })),
        ]}
      />
      <Select
        label="Blocked"
        isLabelHidden
        value={String(filters.blocked ?? "")}
        onChange={(event) => change({ blocked: BLOCKED[event.target.value] })}
        options={[
          { value: "", label: "Any state" },
          { value: "true", label: "Blocked" },
          { value: "false", label: "Not blocked" },
        ]}
      />
      <FilterField
        label="Balance below"
        inputMode="numeric"
        placeholder="Balance below…"
        maxLength={15}
        value={String(filters.balanceBelow ?? "")}
        onFilter={(text) => change({ balanceBelow: text.replaceAll(/\D/g, "") }, true)}
      />
    </search>
  );
}

function CustomersActions() {
  const scope = useScope();
  const navigate = useNavigate();
  const isOperator = useMayActAs("operator");
  const [act, setAct] = useState<"new" | "import" | null>(null);
  if (!isOperator) return null;
  const onClose = () => setAct(null);
  return (
    <>
      <Button icon={FileUp} onClick={() => setAct("import")}>
        Import CSV
      </Button>
      <Button tone="primary" icon={Plus} onClick={() => setAct("new")}>
        Create customer
      </Button>
      {act === "new" && (
        <CustomerDialog
          customer={null}
          onClose={onClose}
          onSaved={({ customerId, name }) => {
            notify(`Created ${name ?? customerId}`, "Assign a plan or add credits next");
            void navigate({
              to: "/projects/$projectId/$environment/customers/$customerId",
              params: { ...scope, customerId },
            });
          }}
        />
      )}
      {act === "import" && <ImportDialog onClose={onClose} />}
    </>
  );
}

/**
 * With some filters, the API examines a limited number of customers per page and can return an empty one. Loads further pages
 * until a customer is found. Called in the component that owns the query, because the effect of a child component would run
 * before the query has the new filters.
 */
function useLoadUntilFound(
  { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage }: Pages,
  isEmpty: boolean,
) {
  const isDue = isEmpty && hasNextPage && !isFetchingNextPage && !isFetchNextPageError;
  useEffect(() => {
    if (isDue) fetchNextPage();
  }, [isDue, fetchNextPage]);
}

function NoCustomers({
  pages: { hasNextPage, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage },
  pagesRead,
  filters,
}: {
  pages: Pages;
  pagesRead: number;
  filters: CustomerFilters;
}) {
  const isOperator = useMayActAs("operator");
  if (isFetchNextPageError && !isFetchingNextPage) {
    return (
      <div className="flex flex-col items-start gap-3 p-4">
        <ProblemCallout error={error} />
        <Button onClick={() => void fetchNextPage()}>Retry</Button>
      </div>
    );
  }
  if (hasNextPage) {
    return (
      <>
        <p role="status" className="border-b border-line px-4 py-2 text-caption text-muted">
          Searching… {countOf(pagesRead, "page")} searched so far.
        </p>
        <SkeletonRows rows={4} />
      </>
    );
  }
  if (Object.keys(filters).length === 0) {
    return (
      <EmptyState
        icon={UsersRound}
        title="No customers yet"
        action={
          <ButtonLink
            from="/projects/$projectId/$environment/customers"
            to="/projects/$projectId/$environment/first-event"
          >
            Send your first event
          </ButtonLink>
        }
      >
        Purser creates a customer when you first send an event, assign a plan or add credits for an ID.
        {isOperator && " You can also create one here or import a CSV file."}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={SearchX}
      title="No matches"
      action={
        <ButtonLink from="/projects/$projectId/$environment/customers" to="." search={{}}>
          Clear filters
        </ButtonLink>
      }
    >
      The search matches the start of an ID, name, email or billing reference.
    </EmptyState>
  );
}
