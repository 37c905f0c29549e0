import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useLocation } from "@tanstack/react-router";
import { BookOpenText, FilterX } from "lucide-react";
import type { Answer } from "../../api/answer.ts";
import { featuresQuery } from "../../api/catalog-lists.ts";
import { readAllOf } from "../../api/lists.ts";
import { ENTRY_FILTER_NAMES } from "../../format/ledger.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { rangeOf } from "../../format/usage-range.ts";
import { PoolName } from "../../frame/links.tsx";
import { useMayActAs, usePoolNames } from "../../frame/use-scope.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Select } from "../../ui/field.tsx";
import { Card, EmptyState } from "../../ui/page.tsx";
import { ListTable } from "../../ui/table.tsx";
import { Time, useClock } from "../../ui/time.tsx";
import { RangeFields } from "../../ui/usage/range-fields.tsx";
import { grantOfEntry } from "../credits/grants.ts";
import { type Customer, customerQuery, nameOf } from "../customers/queries.ts";
import { FeatureField } from "../requests/filter-fields.tsx";
import { ledgerColumns } from "./ledger-columns.tsx";
import { LedgerDetails } from "./ledger-details.tsx";
import { findDuplicates } from "./ledger-duplicates.ts";
import { useShowRow } from "./ledger-links.tsx";
import {
  isLinked,
  isLinkTarget,
  knownGrantsQuery,
  type LedgerFilters,
  type LedgerLine,
  ledgerQuery,
  readLedgerFilters,
} from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId/ledger");

/** All balance changes, newest first. */
export function LedgerTab() {
  const customerScope = route.useParams();
  const filters = route.useSearch();
  const mayReverse = useMayActAs("operator");
  const pages = useSuspenseInfiniteQuery(ledgerQuery(customerScope, filters));
  const { grants } = useSuspenseQuery(knownGrantsQuery(customerScope)).data;
  const { data: features } = useSuspenseQuery(featuresQuery(customerScope));
  const { data: customer } = useSuspenseQuery(customerQuery(customerScope));
  const lines = pages.data.pages.flatMap(({ items }) => items);
  const duplicates = findDuplicates(lines, (entry) => grantOfEntry(entry, grants));
  const { charge } = filters;
  const linked = lines.find(({ entry }) => isLinkTarget(entry, filters));
  const hash = useLocation({ select: (location) => location.hash });
  useShowRow(hash !== "" ? hash : linked === undefined ? null : rowIdOf(linked));
  const context = {
    customerScope,
    customerName: nameOf(customer),
    nameOfPool: usePoolNames(),
    lines,
    grants,
    features,
    duplicates,
    mayReverse,
  };
  // The API returns the opening balances with the last page.
  const broughtForward = pages.data.pages.at(-1)?.broughtForward ?? [];
  const isFiltered = ["kind", "feature", "range", "from"].some((name) => name in filters);
  const isEmpty = lines.length === 0 && !isFiltered;
  return (
    <Card flush>
      {!isEmpty && <LedgerFilterBar filters={filters} />}
      {charge !== undefined && linked === undefined && <NotShown charge={charge} />}
      {lines.length === 0 && !pages.hasNextPage ? (
        <NothingHere isFiltered={isFiltered} hasEarlier={broughtForward.length > 0} />
      ) : (
        <ListTable
          label="Ledger"
          what="entries"
          note={noteOn(customer)}
          about={customerScope.customerId}
          readAll={readAllOf(ledgerQuery(customerScope, filters))}
          pages={pages}
          columns={ledgerColumns(context)}
          rows={lines}
          keyOf={({ entry }) => entry.sequence}
          idOf={rowIdOf}
          toneOf={({ entry }) => {
            if (isLinked(entry, filters)) return "accent";
            return duplicates.has(entry.sequence) ? "warn" : null;
          }}
          details={{
            label: ({ entry }) => `Details of entry ${entry.sequence}`,
            show: (line) => <LedgerDetails line={line} context={context} />,
          }}
        />
      )}
      {broughtForward.length > 0 && <BroughtForward pools={broughtForward} />}
    </Card>
  );
}

/** The ledger records when held credits are spent, not when they are set aside. */
function noteOn({ balances }: Customer): string | undefined {
  const held = balances.reduce((sum, balance) => sum + balance.held, 0);
  return held === 0 ? undefined : `Balances in the ledger include ${countOf(held, "held credit")}.`;
}

function rowIdOf({ entry }: LedgerLine): string {
  return `entry-${entry.sequence}`;
}

function NotShown({ charge }: { charge: string }) {
  return (
    <div className="p-3">
      <Callout tone="warn" title="Charge not found">
        <code className="font-mono">{charge}</code> is not among the matching entries loaded so far.
      </Callout>
    </div>
  );
}

function NothingHere({ isFiltered, hasEarlier }: { isFiltered: boolean; hasEarlier: boolean }) {
  const customerScope = route.useParams();
  if (isFiltered) {
    return (
      <EmptyState
        icon={FilterX}
        title="No matches"
        action={
          <ButtonLink
            to="/projects/$projectId/$environment/customers/$customerId/ledger"
            params={customerScope}
            search={{}}
          >
            Clear filters
          </ButtonLink>
        }
      >
        No entries match the filters.
      </EmptyState>
    );
  }
  if (hasEarlier) return <EmptyState icon={BookOpenText} title="No entries in your history window" />;
  return (
    <EmptyState icon={BookOpenText} title="No entries yet">
      Each top-up, charge and expiry adds an entry.
    </EmptyState>
  );
}

function LedgerFilterBar({ filters }: { filters: LedgerFilters }) {
  const navigate = route.useNavigate();
  const clock = useClock();
  // Changing a filter removes the link to a charge.
  const change = (changed: Record<string, unknown>): void =>
    void navigate({
      search: ({ charge: _, item: __, ...others }) => readLedgerFilters({ ...others, ...changed }),
      resetScroll: false,
    });
  return (
    <search className="flex flex-wrap items-center gap-2 border-b border-line p-3">
      <Select
        label="Kind"
        isLabelHidden
        isFitted
        value={filters.kind ?? ""}
        onChange={({ target }) => change({ kind: target.value })}
        options={[
          { value: "", label: "All kinds" },
          ...Object.entries(ENTRY_FILTER_NAMES).map(([value, label]) => ({ value, label })),
        ]}
      />
      <FeatureField feature={filters.feature} onChange={(feature) => change({ feature })} />
      <RangeFields
        search={filters}
        range={rangeOf(filters, Date.now(), clock)}
        anyName="Any time"
        onChange={change}
      />
    </search>
  );
}

/** Opening balance at the start of the history window. */
function BroughtForward({ pools }: { pools: Answer<"listLedger">["broughtForward"] }) {
  return (
    <section aria-label="Brought forward" className="border-t border-line px-4 py-3">
      <ul className="space-y-1">
        {pools.map(({ pool, amount, before }) => (
          <li key={pool} className="flex items-baseline justify-between gap-4">
            <span>
              <span className="font-medium">Brought forward</span>{" "}
              <span className="text-muted">
                balance in <PoolName pool={pool} /> before <Time at={before} />
              </span>
            </span>
            <span className="font-medium tabular-nums">{formatCount(amount)}</span>
          </li>
        ))}
      </ul>
      <p className="mt-1 text-caption text-muted">Older entries are kept but hidden.</p>
    </section>
  );
}
