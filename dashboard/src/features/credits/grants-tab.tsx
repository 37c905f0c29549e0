import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Coins } from "lucide-react";
import type { ReactNode } from "react";
import { readAllOf } from "../../api/lists.ts";
import { BURN_ORDER } from "../../format/ledger.ts";
import { formatCount, formatPrice } from "../../format/numbers.ts";
import { PoolName } from "../../frame/links.tsx";
import { useMayActAs, usePoolNames } from "../../frame/use-scope.ts";
import { Callout } from "../../ui/callout.tsx";
import { Json } from "../../ui/code-block.tsx";
import { Card, Details, EmptyState } from "../../ui/page.tsx";
import { ListTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import type { CustomerScope } from "../customers/queries.ts";
import { ActorName, MovedLink, useShowRow } from "../ledger/ledger-links.tsx";
import { type GrantLine, grantsQuery, planChangesQuery } from "../ledger/queries.ts";
import { givenReference } from "./credits-form.ts";
import { GrantActions, grantColumns } from "./grant-columns.tsx";
import { findNextGrants } from "./grants.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId/grants");

/** All grants of a customer and their remaining credits. */
export function GrantsTab() {
  const customerScope = route.useParams();
  const { grant: linked } = route.useSearch();
  const mayRevoke = useMayActAs("operator");
  const pages = useSuspenseInfiniteQuery(grantsQuery(customerScope));
  const plans = useSuspenseInfiniteQuery(planChangesQuery(customerScope));
  const nameOfPool = usePoolNames();
  const lines = pages.data.pages.flatMap(({ items }) => items);
  const isShown = lines.some(({ grant }) => grant.grant === linked);
  useShowRow(isShown ? `grant-${linked}` : null);
  if (lines.length === 0) return <NoGrants />;
  const columns = grantColumns({
    customerScope,
    mayRevoke,
    nameOfPool,
    changes: plans.data.pages.flatMap(({ items }) => items.map(({ change }) => change)),
    // An older grant that is not loaded yet could be spent first, so mark no grant as next.
    next: pages.hasNextPage ? new Set() : findNextGrants(lines.map(({ grant }) => grant)),
    now: Date.now(),
  });
  return (
    <Card title="Grants" note={BURN_ORDER} flush>
      {linked !== undefined && !isShown && (
        <div className="p-3">
          <Callout tone="warn">Grant {linked} was not found for this customer.</Callout>
        </div>
      )}
      <ListTable
        label="Grants"
        columns={columns}
        rows={lines}
        keyOf={numberOf}
        idOf={(line) => `grant-${numberOf(line)}`}
        toneOf={(line) => (numberOf(line) === linked ? "accent" : null)}
        details={{
          label: (line) => `Details of grant ${numberOf(line)}`,
          show: (line) => <GrantDetails line={line} customerScope={customerScope} mayRevoke={mayRevoke} />,
        }}
        pages={pages}
        what="grants"
        about={customerScope.customerId}
        readAll={readAllOf(grantsQuery(customerScope))}
      />
    </Card>
  );
}

function numberOf({ grant }: GrantLine): number {
  return grant.grant;
}

function NoGrants() {
  return (
    <Card flush>
      <EmptyState icon={Coins} title="No grants yet">
        Grants come from plans and top-ups.
      </EmptyState>
    </Card>
  );
}

type Item = { name: string; value: ReactNode };

function GrantDetails({
  line: { grant, by },
  customerScope,
  mayRevoke,
}: {
  line: GrantLine;
  customerScope: CustomerScope;
  mayRevoke: boolean;
}) {
  const { price, note, expiresAt, revokedAt, movedFrom, movedTo } = grant;
  const reference = givenReference(grant.reference);
  const items: (Item | null)[] = [
    { name: "Created", value: <Time at={grant.effectiveAt} /> },
    // A renewal is recorded with the customer's next request.
    grant.effectiveAt === grant.recordedAt
      ? null
      : { name: "Recorded", value: <Time at={grant.recordedAt} /> },
    by === null ? null : { name: "By", value: <ActorName actor={by} /> },
    note === null ? null : { name: "Note", value: note },
    reference === null ? null : { name: "Reference", value: <code className="font-mono">{reference}</code> },
    price === null ? null : { name: "Price", value: formatPrice(price) },
    { name: "Pool", value: <PoolName pool={grant.pool} /> },
    { name: "Expires", value: expiresAt === null ? "Never" : <Time at={expiresAt} /> },
    revokedAt === null
      ? null
      : { name: movedTo === null ? "Revoked" : "Moved", value: <Time at={revokedAt} /> },
    movedTo === null
      ? null
      : { name: "Moved to", value: <MovedLink other={movedTo} customerScope={customerScope} /> },
    movedFrom === null
      ? null
      : { name: "Moved from", value: <MovedLink other={movedFrom} customerScope={customerScope} /> },
    { name: "Remaining", value: `${formatCount(grant.remaining)} of ${formatCount(grant.credits)}` },
    grant.held === 0 ? null : { name: "Held", value: formatCount(grant.held) },
  ];
  return (
    <div className="flex flex-col gap-4">
      <Details items={items.filter((item) => item !== null)} />
      {mayRevoke && (
        // In a narrow window, the table has no room for the buttons.
        <div className="md:hidden">
          <GrantActions customerScope={customerScope} grant={grant} />
        </div>
      )}
      <Json label={`grant ${grant.grant}`} value={grant} />
    </div>
  );
}
