import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Coins } from "lucide-react";
import { useMayActAs } from "../../frame/use-session.ts";
import { Callout } from "../../ui/callout.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { More } from "../../ui/more.tsx";
import { Table } from "../../ui/table.tsx";
import { BURN_ORDER } from "../../words/ledger-words.ts";
import { grantColumns } from "./grant-columns.tsx";
import { GrantDetails } from "./grant-details.tsx";
import { findNextGrants } from "./grant-state.ts";
import { type GrantLine, grantsQuery, planChangesQuery } from "./ledger-queries.ts";
import { useShowRow } from "./use-show-row.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId/grants");

/** All credits that were given, and what is left of them. */
export function GrantsTab() {
  const whose = route.useParams();
  const { grant: sought } = route.useSearch();
  const mayRevoke = useMayActAs("operator");
  const pages = useSuspenseInfiniteQuery(grantsQuery(whose));
  const plans = useSuspenseInfiniteQuery(planChangesQuery(whose));
  const lines = pages.data.pages.flatMap(({ items }) => items);
  const isShown = lines.some(({ grant }) => grant.grant === sought);
  useShowRow(isShown ? `grant-${sought}` : null);
  if (lines.length === 0) return <NoGrants />;
  const columns = grantColumns({
    whose,
    mayRevoke,
    changes: plans.data.pages.flatMap(({ items }) => items.map(({ change }) => change)),
    // Among those further back there may be one that goes first.
    next: pages.hasNextPage ? new Set() : findNextGrants(lines.map(({ grant }) => grant)),
    now: Date.now(),
  });
  return (
    <Card title="Credits given" note={BURN_ORDER} flush>
      {sought !== undefined && !isShown && (
        <div className="p-3">
          <Callout tone="warn">Grant {sought} is not one of this customer's, or is further back.</Callout>
        </div>
      )}
      <Table
        label="Credits given"
        columns={columns}
        rows={lines}
        keyOf={numberOf}
        idOf={(line) => `grant-${numberOf(line)}`}
        toneOf={(line) => (numberOf(line) === sought ? "accent" : null)}
        details={{
          label: (line) => `Details of grant ${numberOf(line)}`,
          show: (line) => <GrantDetails line={line} whose={whose} mayRevoke={mayRevoke} />,
        }}
      />
      <More pages={pages} shown={lines.length} what="grants" />
    </Card>
  );
}

function numberOf({ grant }: GrantLine): number {
  return grant.grant;
}

function NoGrants() {
  return (
    <Card flush>
      <EmptyState icon={Coins} title="No credits were given yet">
        They come with a plan that includes some, or when somebody adds them.
      </EmptyState>
    </Card>
  );
}
