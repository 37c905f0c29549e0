import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Hourglass } from "lucide-react";
import { useState } from "react";
import { featureNamesQuery } from "../../api/catalog-lists.ts";
import { useMayActAs } from "../../frame/use-scope.ts";
import { Callout } from "../../ui/callout.tsx";
import { Card, EmptyState } from "../../ui/page.tsx";
import { ListTable } from "../../ui/table.tsx";
import { WindowEdge } from "../../ui/usage/window-edge.tsx";
import { useShowRow } from "../ledger/ledger-links.tsx";
import { type Hold, type HoldLine, holdsQuery, openHoldsQuery } from "../ledger/queries.ts";
import { endedColumns, openColumns } from "./hold-columns.tsx";
import { HoldDetails } from "./hold-details.tsx";
import { ReleaseDialog } from "./release-hold.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId/holds");

/** A customer's open and ended holds. */
export function HoldsTab() {
  const customerScope = route.useParams();
  const { hold: linked } = route.useSearch();
  const mayRelease = useMayActAs("operator");
  const [releasing, setReleasing] = useState<Hold | null>(null);
  const openPages = useSuspenseInfiniteQuery(openHoldsQuery(customerScope));
  const pages = useSuspenseInfiniteQuery(holdsQuery(customerScope));
  const { data: names } = useSuspenseQuery(featureNamesQuery(customerScope));
  const open = openPages.data.pages.flatMap(({ items }) => items.map((hold) => ({ hold, by: null })));
  const ended = pages.data.pages.flatMap(({ items }) => items.filter(({ hold }) => hold.status !== "open"));
  const isShown = [...open, ...ended].some(({ hold }) => hold.holdId === linked);
  useShowRow(isShown ? `hold-${linked}` : null);
  const windowStart = pages.data.pages[0]?.windowStart ?? null;
  const context = { customerScope, names, onRelease: mayRelease ? setReleasing : null };
  const table = {
    about: customerScope.customerId,
    keyOf: idOf,
    idOf: (line: HoldLine) => `hold-${idOf(line)}`,
    toneOf: (line: HoldLine) => (idOf(line) === linked ? ("accent" as const) : null),
    details: {
      label: (line: HoldLine) => `Details of hold ${idOf(line)}`,
      show: (line: HoldLine) => <HoldDetails line={line} context={context} />,
    },
  };
  return (
    <>
      {linked !== undefined && !isShown && (
        <Callout tone="warn">Hold {linked} was not found for this customer.</Callout>
      )}
      {open.length + ended.length === 0 && !pages.hasNextPage ? (
        <NoHolds />
      ) : (
        <>
          <Card title="Open holds" note="Held credits cannot be spent until the hold ends." flush>
            <ListTable
              label="Open holds"
              columns={openColumns(context)}
              rows={open}
              pages={openPages}
              what="open holds"
              empty={<p className="px-4 py-6 text-center text-muted">No open holds.</p>}
              {...table}
            />
          </Card>
          <Card title="History" flush>
            <ListTable
              label="Ended holds"
              columns={endedColumns(context)}
              rows={ended}
              pages={pages}
              what="ended holds"
              {...(pages.hasNextPage
                ? {}
                : { empty: <p className="px-4 py-6 text-center text-muted">No hold has ended yet.</p> })}
              {...table}
            />
          </Card>
        </>
      )}
      {windowStart !== null && !pages.hasNextPage && <WindowEdge windowStart={windowStart} />}
      {releasing !== null && (
        <ReleaseDialog
          customerScope={customerScope}
          hold={releasing}
          names={names}
          onClose={() => setReleasing(null)}
        />
      )}
    </>
  );
}

function idOf({ hold }: HoldLine): string {
  return hold.holdId;
}

function NoHolds() {
  return (
    <Card flush>
      <EmptyState icon={Hourglass} title="No holds yet">
        Your backend opens a hold with <code className="font-mono whitespace-nowrap">POST /v1/holds</code>{" "}
        before work whose cost is known only afterward.
      </EmptyState>
    </Card>
  );
}
