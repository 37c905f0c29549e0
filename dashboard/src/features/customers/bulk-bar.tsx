import { useSuspenseQuery } from "@tanstack/react-query";
import { Ban, CircleCheck, Download, Layers, Plus, X } from "lucide-react";
import { useRef, useState } from "react";
import { plansQuery } from "../../api/catalog-lists.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Button, IconButton, LinkButton } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { saveFile } from "../../ui/save-file.ts";
import type { Column } from "../../ui/table.tsx";
import { csvOf } from "../../ui/table-csv.tsx";
import { BulkPlanDialog } from "../assignments/bulk-plan.tsx";
import { BulkBlockDialog, BulkCreditsDialog } from "./bulk-actions.tsx";
import { type Customer, type CustomerFilters, readCustomers } from "./queries.ts";

/** To change more customers, use the API or an import. */
const SELECTED_MAX = 5_000;

type Act = "plan" | "credits" | "block" | "unblock";

/** Actions on the selected customers. Floats at the bottom, because selecting a row must not move the rows. */
export function BulkBar({
  selected,
  shown,
  hasMore,
  filters,
  columns,
  onSelect,
}: {
  selected: readonly Customer[];
  /** Customers in the list below. */
  shown: readonly Customer[];
  hasMore: boolean;
  filters: CustomerFilters;
  columns: readonly Column<Customer>[];
  /** Replaces the selection. */
  onSelect: (customers: readonly Customer[]) => void;
}) {
  const [act, setAct] = useState<Act | null>(null);
  const { data: plans } = useSuspenseQuery(plansQuery(useScope()));
  const hasChanged = useRef(false);
  const shownIds = new Set(shown.map(({ customerId }) => customerId));
  const inList = selected.filter(({ customerId }) => shownIds.has(customerId));
  const elsewhere = selected.length - inList.length;
  const dialog = {
    customers: selected,
    onChanged: () => {
      hasChanged.current = true;
    },
    onClose: () => {
      setAct(null);
      // After a change, only listed customers are reloaded, so deselect all other customers.
      if (hasChanged.current && elsewhere > 0) onSelect(inList);
      hasChanged.current = false;
    },
  };
  if (selected.length === 0) return null;
  return (
    <section
      aria-label="Selected customers"
      className="fixed right-4 bottom-4 left-4 z-20 mx-auto flex w-fit flex-wrap items-center gap-x-6 gap-y-2 rounded-lg border border-line-strong bg-surface px-4 py-2 shadow-over md:left-64"
    >
      <p role="status" className="flex flex-wrap items-baseline gap-x-2">
        <span className="font-semibold">{formatCount(selected.length)} selected</span>
        {elsewhere > 0 && <span className="text-muted">{formatCount(elsewhere)} not in this list</span>}
        {hasMore && <SelectMatching filters={filters} selected={selected} onSelect={onSelect} />}
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <Button icon={Layers} isDisabled={plans.length === 0} onClick={() => setAct("plan")}>
          Assign plan
        </Button>
        <Button icon={Plus} onClick={() => setAct("credits")}>
          Add credits
        </Button>
        <Button icon={Ban} onClick={() => setAct("block")}>
          Block
        </Button>
        <Button icon={CircleCheck} onClick={() => setAct("unblock")}>
          Unblock
        </Button>
        <Button
          icon={Download}
          onClick={() => saveFile("selected-customers.csv", csvOf(columns, selected), "text/csv")}
        >
          Export CSV
        </Button>
        <IconButton icon={X} label="Clear selection" onClick={() => onSelect([])} />
      </div>
      {act === "plan" && <BulkPlanDialog {...dialog} />}
      {act === "credits" && <BulkCreditsDialog {...dialog} />}
      {(act === "block" || act === "unblock") && <BulkBlockDialog {...dialog} isBlocked={act === "block"} />}
    </section>
  );
}

type Matching = { readonly filters: CustomerFilters; readonly customers: readonly Customer[] | null };

/** The first click counts the customers that match the filter. The second click selects them. */
function SelectMatching({
  filters,
  selected,
  onSelect,
}: {
  filters: CustomerFilters;
  selected: readonly Customer[];
  onSelect: (customers: readonly Customer[]) => void;
}) {
  const scope = useScope();
  const [count, setCount] = useState<number | null>(null);
  const [found, setFound] = useState<Matching | null>(null);
  const [error, setError] = useState<unknown>(null);
  async function read(): Promise<void> {
    setError(null);
    setCount(0);
    try {
      setFound({
        filters,
        customers: await readCustomers(scope, filters, { max: SELECTED_MAX, onRead: setCount }),
      });
    } catch (cause) {
      setError(cause);
    } finally {
      setCount(null);
    }
  }
  if (error !== null) return <ProblemCallout error={error} />;
  if (count !== null) return <span className="text-muted">Counting… {formatCount(count)}</span>;
  if (found === null || found.filters !== filters)
    return <LinkButton onClick={() => void read()}>Select all that match this filter…</LinkButton>;
  const { customers } = found;
  if (customers === null)
    return (
      <span className="text-muted">
        More than {formatCount(SELECTED_MAX)} customers match. Narrow the filter.
      </span>
    );
  const chosen = new Set(selected.map(({ customerId }) => customerId));
  if (customers.length === chosen.size && customers.every(({ customerId }) => chosen.has(customerId)))
    return <span className="text-muted">All {countOf(customers.length, "customer")} that match</span>;
  return (
    <LinkButton onClick={() => onSelect(customers)}>
      Select all {countOf(customers.length, "customer")} that match
    </LinkButton>
  );
}
