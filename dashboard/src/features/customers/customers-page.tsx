import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { FileUp, Plus } from "lucide-react";
import { Fragment, useState } from "react";
import { plansQuery, poolsQuery } from "../../api/catalog-lists.ts";
import { formatCount } from "../../format/numbers.ts";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Select } from "../../ui/field.tsx";
import { FilterField } from "../../ui/filter-field.tsx";
import { TextLink } from "../../ui/link.tsx";
import { More } from "../../ui/more.tsx";
import { Page } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { tell } from "../../ui/toast.tsx";
import { BulkAssignButton } from "../assignments/bulk-assign-form.tsx";
import { CustomerDialog } from "./customer-form.tsx";
import { ImportDialog } from "./import-form.tsx";
import { NoCustomers, useReadOn } from "./no-customers.tsx";
import { type Customer, type CustomerFilters, customersQuery, readFilters } from "./queries.ts";

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

const BLOCKED: Record<string, boolean> = { true: true, false: false };

/** Every filter stands in the address: a list can be sent to somebody, and going back finds it. */
function CustomerFilterBar({ filters }: { filters: CustomerFilters }) {
  const navigate = route.useNavigate();
  const { data: plans } = useSuspenseQuery(plansQuery(usePlace()));
  function change(changed: Partial<Record<keyof CustomerFilters, unknown>>, replace = false): void {
    void navigate({ search: (before) => readFilters({ ...before, ...changed }), replace });
  }
  return (
    <search className="grid grid-cols-2 gap-2 border-b border-line p-3 sm:grid-cols-3 lg:grid-cols-[1fr_10rem_10rem_10rem]">
      <div className="col-span-full lg:col-span-1">
        <FilterField
          label="Search customers"
          type="search"
          placeholder="Id, name, email or billing reference"
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
          { value: "", label: "Blocked or not" },
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

type Act = "new" | "import";

/** How customers come to be by hand. */
function CustomersActions() {
  const place = usePlace();
  const navigate = useNavigate();
  const isOperator = useMayActAs("operator");
  const [{ act, opening }, setState] = useState<{ act: Act | null; opening: number }>({
    act: null,
    opening: 0,
  });
  if (!isOperator) return null;
  const open = (name: Act) => setState({ act: name, opening: opening + 1 });
  const onClose = () => setState({ act: null, opening });
  return (
    <>
      <Button icon={FileUp} onClick={() => open("import")}>
        Import CSV
      </Button>
      <Button tone="primary" icon={Plus} onClick={() => open("new")}>
        New customer
      </Button>
      <Fragment key={opening}>
        <CustomerDialog
          customer={null}
          isOpen={act === "new"}
          onClose={onClose}
          onSaved={({ customerId, name }) => {
            tell(`${name ?? customerId} is a customer now`, "Assign a plan or add credits next");
            void navigate({
              to: "/projects/$projectId/$environment/customers/$customerId",
              params: { ...place, customerId },
            });
          }}
        />
        <ImportDialog isOpen={act === "import"} onClose={onClose} />
      </Fragment>
    </>
  );
}
