import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { FileUp, Plus } from "lucide-react";
import { useEffect, useState } from "react";
import { plansQuery, poolsQuery } from "../../api/catalog-lists.ts";
import { SectionTabs } from "../../frame/section-tabs.tsx";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { FilterField } from "../../ui/filter-field.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { ListTable, type Pages } from "../../ui/table.tsx";
import { notify } from "../../ui/toast.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { customerColumns } from "./customer-columns.tsx";
import { CustomerDialog } from "./customer-form.tsx";
import { ImportDialog } from "./import-form.tsx";
import { NoCustomers } from "./no-customers.tsx";
import {
  type Customer,
  type CustomerFilters,
  customersQuery,
  isByBalance,
  nameOf,
  readCustomers,
  readFilters,
} from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers");

export function CustomersPage() {
  const scope = useScope();
  const filters = route.useSearch();
  const navigate = route.useNavigate();
  const isOperator = useMayActAs("operator");
  const { data: pools } = useSuspenseQuery(poolsQuery(scope));
  const pages = useSuspenseInfiniteQuery(customersQuery(scope, filters));
  const customers = pages.data.pages.flatMap(({ items }) => items);
  const { selected, select, setSelected } = useSelected(customers);
  useLoadUntilFound(pages, customers.length === 0);
  const columns = customerColumns(pools);
  const sort = filters.sort ?? "newest";
  const hasMore = pages.hasNextPage || isByBalance(filters);
  return (
    <Page title="Customers" actions={<CustomersActions isCreating={filters.do === "create"} />}>
      <SectionTabs section="Customers" />
      <Card flush>
        <CustomerFilterBar filters={filters} />
        {isOperator && (
          <BulkBar
            selected={selected}
            shown={customers}
            hasMore={hasMore}
            filters={filters}
            columns={columns}
            onSelect={setSelected}
          />
        )}
        {isByBalance(filters) && (
          <p className="border-b border-line px-4 py-2 text-caption text-muted">
            Shows the newest 100,000 customers, sorted by last stored balance. The balances shown include
            renewals since then, but the order does not.
          </p>
        )}
        <ListTable
          label="Customers"
          columns={columns}
          rows={customers}
          keyOf={({ customerId }) => customerId}
          sorting={{
            value: sort,
            onSort: (value) => void navigate({ search: (before) => readFilters({ ...before, sort: value }) }),
          }}
          {...(isOperator
            ? {
                selection: {
                  keys: new Set(selected.map(({ customerId }) => customerId)),
                  labelOf: (customer: Customer) => `Select ${nameOf(customer)}`,
                  onSelect: select,
                },
              }
            : {})}
          readAll={async (onRead) => (await readCustomers(scope, filters, { onRead })) ?? []}
          pages={pages}
          isPartial={isByBalance(filters)}
          what="customers"
          empty={<NoCustomers pages={pages} pagesRead={pages.data.pages.length} filters={filters} />}
        />
      </Card>
      {/* Lets the end of the list scroll above the bar. */}
      {selected.length > 0 && <div className="h-12 max-sm:h-28" />}
    </Page>
  );
}

/** Customers stay selected when the filter changes. For customers in the list, the selection has the same values as the list. */
function useSelected(shown: readonly Customer[]) {
  const [kept, setKept] = useState<ReadonlyMap<string, Customer>>(new Map());
  const current = new Map(shown.map((customer) => [customer.customerId, customer]));
  const setSelected = (customers: readonly Customer[]): void =>
    setKept(new Map(customers.map((customer) => [customer.customerId, customer])));
  return {
    selected: [...kept.values()].map((customer) => current.get(customer.customerId) ?? customer),
    setSelected,
    select: (customers: readonly Customer[], isSelected: boolean): void =>
      setKept((before) => {
        const next = new Map(before);
        for (const customer of customers)
          if (isSelected) next.set(customer.customerId, customer);
          else next.delete(customer.customerId);
        return next;
      }),
  };
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

function CustomersActions({ isCreating }: { isCreating: boolean }) {
  const scope = useScope();
  const navigate = useNavigate();
  const isOperator = useMayActAs("operator");
  const [chosen, setAct] = useState<"new" | "import" | null>(null);
  const act = isCreating ? "new" : chosen;
  if (!isOperator) return null;
  const onClose = () => {
    setAct(null);
    if (isCreating) void navigate({ to: ".", search: ({ do: _, ...search }) => search, replace: true });
  };
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
 * With some filters, the API examines a limited number of customers per page and can return an empty page. Loads further pages until a
 * customer is found. Must be called in the component that owns the query, because the effect of a child component would run before the
 * query has the new filters.
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
