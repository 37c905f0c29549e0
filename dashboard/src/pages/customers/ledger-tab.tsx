import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useLocation } from "@tanstack/react-router";
import { BookOpenText, FilterX } from "lucide-react";
import { useMayActAs } from "../../frame/use-session.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { More } from "../../ui/more.tsx";
import { Table } from "../../ui/table.tsx";
import { countOf } from "../../words/numbers.ts";
import { BroughtForward } from "./brought-forward.tsx";
import { grantOfEntry } from "./grant-of-entry.ts";
import { ledgerColumns } from "./ledger-columns.tsx";
import { LedgerDetails } from "./ledger-details.tsx";
import { LedgerFilterBar } from "./ledger-filter-bar.tsx";
import { featureNamesQuery, knownGrantsQuery, type LedgerLine, ledgerQuery } from "./ledger-queries.ts";
import { findTwins } from "./ledger-twins.ts";
import { useShowRow } from "./use-show-row.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId/ledger");

/** Every change of the balance, the newest first. */
export function LedgerTab() {
  const whose = route.useParams();
  const filters = route.useSearch();
  const mayReverse = useMayActAs("operator");
  const pages = useSuspenseInfiniteQuery(ledgerQuery(whose, filters));
  const { grants } = useSuspenseQuery(knownGrantsQuery(whose)).data;
  const { data: features } = useSuspenseQuery(featureNamesQuery(whose));
  const lines = pages.data.pages.flatMap(({ items }) => items);
  const twins = findTwins(lines, (entry) => grantOfEntry(entry, grants));
  const { charge } = filters;
  const sought = charge === undefined ? undefined : lines.find(({ entry }) => entry.consumeId === charge);
  const hash = useLocation({ select: (location) => location.hash });
  useShowRow(hash !== "" ? hash : sought === undefined ? null : rowIdOf(sought));
  const context = { whose, lines, grants, features, twins, mayReverse };
  // It comes with the last page.
  const broughtForward = pages.data.pages.at(-1)?.broughtForward ?? [];
  const isFiltered = filters.kind !== undefined || filters.feature !== undefined;
  const isEmpty = lines.length === 0 && !isFiltered;
  return (
    <Card flush>
      {!isEmpty && <LedgerFilterBar filters={filters} features={features} />}
      {charge !== undefined && sought === undefined && <NotShown charge={charge} shown={lines.length} />}
      {lines.length === 0 && !pages.hasNextPage ? (
        <NothingHere isFiltered={isFiltered} hasEarlier={broughtForward.length > 0} />
      ) : (
        <>
          <Table
            label="Ledger"
            columns={ledgerColumns(context)}
            rows={lines}
            keyOf={({ entry }) => entry.sequence}
            idOf={rowIdOf}
            toneOf={({ entry }) => {
              if (charge !== undefined && (entry.consumeId ?? entry.reverses) === charge) return "accent";
              return twins.has(entry.sequence) ? "warn" : null;
            }}
            details={{
              label: ({ entry }) => `Details of entry ${entry.sequence}`,
              show: (line) => <LedgerDetails line={line} context={context} />,
            }}
          />
          <More pages={pages} shown={lines.length} what="entries" />
        </>
      )}
      {broughtForward.length > 0 && <BroughtForward pools={broughtForward} />}
    </Card>
  );
}

function rowIdOf({ entry }: LedgerLine): string {
  return `entry-${entry.sequence}`;
}

function NotShown({ charge, shown }: { charge: string; shown: number }) {
  return (
    <div className="p-3">
      <Callout tone="warn" title="This charge is not among the entries below">
        <code className="font-mono">{charge}</code> is not one of the newest{" "}
        {countOf(shown, "entry", "entries")} that match the filter. It may be further back, or another
        customer's.
      </Callout>
    </div>
  );
}

function NothingHere({ isFiltered, hasEarlier }: { isFiltered: boolean; hasEarlier: boolean }) {
  const whose = route.useParams();
  if (isFiltered) {
    return (
      <EmptyState
        icon={FilterX}
        title="No entry matches the filter"
        action={
          <ButtonLink
            to="/projects/$projectId/$environment/customers/$customerId/ledger"
            params={whose}
            search={{}}
          >
            Show all entries
          </ButtonLink>
        }
      >
        In the time that is shown this customer has none of this kind, or none for this feature.
      </EmptyState>
    );
  }
  if (hasEarlier) return <EmptyState icon={BookOpenText} title="Nothing moved in the time that is shown" />;
  return (
    <EmptyState icon={BookOpenText} title="Nothing has moved yet">
      An entry is written with each top-up, charge and expiry. The first comes when this customer is given a
      plan or credits.
    </EmptyState>
  );
}
