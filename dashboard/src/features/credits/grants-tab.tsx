import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Coins } from "lucide-react";
import type { ReactNode } from "react";
import { BURN_ORDER, GRANT_NAMES, GRANT_STATE_NAMES, type GrantState } from "../../format/ledger.ts";
import { formatCount, formatPrice } from "../../format/numbers.ts";
import { PoolName } from "../../frame/links.tsx";
import { useMayActAs, usePoolNames } from "../../frame/use-scope.ts";
import { Badge, type BadgeTone } from "../../ui/badge.tsx";
import { Callout } from "../../ui/callout.tsx";
import { CopyButton, Json } from "../../ui/code-block.tsx";
import { Card, Details, EmptyState } from "../../ui/page.tsx";
import { type Column, csvColumn, ListTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import type { CustomerScope } from "../customers/queries.ts";
import { ActorName, MovedLink, useShowRow } from "../ledger/ledger-links.tsx";
import {
  type Grant,
  type GrantLine,
  grantsQuery,
  type PlanChange,
  planChangesQuery,
} from "../ledger/queries.ts";
import { givenReference } from "./credits-form.ts";
import { findNextGrants, stateOfGrant } from "./grants.ts";
import { MoveButton } from "./move-grant.tsx";
import { RevokeButton } from "./revoke-grant.tsx";

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

type GrantContext = {
  readonly customerScope: CustomerScope;
  readonly mayRevoke: boolean;
  readonly nameOfPool: (key: string) => string;
  readonly changes: readonly PlanChange[];
  readonly next: ReadonlySet<number>;
  readonly now: number;
};

const TONES = {
  open: "good",
  held: "accent",
  spent: "plain",
  ended: "plain",
  expired: "plain",
  revoked: "bad",
  moved: "plain",
} as const satisfies Record<GrantState, BadgeTone>;

function grantColumns({
  customerScope,
  mayRevoke,
  nameOfPool,
  changes,
  next,
  now,
}: GrantContext): Column<GrantLine>[] {
  return [
    {
      name: "Created",
      hidesBelow: "md",
      csv: ({ grant }) => grant.effectiveAt,
      cell: (line) => <Given line={line} />,
    },
    {
      name: "Kind",
      csv: ({ grant }) => GRANT_NAMES[grant.kind],
      cell: ({ grant }) => <Kind grant={grant} />,
    },
    csvColumn("Grant", ({ grant }) => grant.grant),
    csvColumn("Pool", ({ grant }) => nameOfPool(grant.pool)),
    {
      name: "Reference",
      isWide: true,
      hidesBelow: "xl",
      csv: ({ grant }) => givenReference(grant.reference),
      cell: ({ grant }) => <Reference reference={givenReference(grant.reference)} />,
    },
    {
      name: "Price",
      isNumber: true,
      hidesBelow: "xl",
      csv: ({ grant: { price } }) => price && formatPrice(price),
      cell: ({ grant: { price } }) => price !== null && formatPrice(price),
    },
    {
      name: "Expires",
      hidesBelow: "md",
      csv: ({ grant }) => grant.expiresAt,
      cell: ({ grant }) => <Time at={grant.expiresAt} as="day" />,
    },
    {
      name: "Amount",
      isNumber: true,
      hidesBelow: "md",
      csv: ({ grant }) => grant.credits,
      cell: ({ grant }) => formatCount(grant.credits),
    },
    {
      name: "Remaining",
      isNumber: true,
      csv: ({ grant }) => grant.remaining,
      cell: ({ grant: { remaining, held, credits } }) => (
        <>
          <span className={remaining === 0 ? "text-muted" : "font-medium"}>{formatCount(remaining)}</span>
          <div className="text-caption text-muted md:hidden">of {formatCount(credits)}</div>
          {held > 0 && <div className="text-caption text-muted">{formatCount(held)} held</div>}
        </>
      ),
    },
    {
      name: "State",
      csv: ({ grant }) => GRANT_STATE_NAMES[stateOfGrant(grant, changes, now)],
      cell: ({ grant }) => {
        const state = stateOfGrant(grant, changes, now);
        return next.has(grant.grant) ? (
          <Badge tone="accent">Used next</Badge>
        ) : (
          <Badge tone={TONES[state]}>{GRANT_STATE_NAMES[state]}</Badge>
        );
      },
    },
    {
      isShown: mayRevoke,
      name: "Actions",
      isActions: true,
      hidesBelow: "md",
      cell: ({ grant }: GrantLine) => <GrantActions customerScope={customerScope} grant={grant} />,
    },
  ];
}

function Given({ line: { grant, by } }: { line: GrantLine }) {
  return (
    <>
      <Time at={grant.effectiveAt} />
      <div className="text-caption text-muted">
        {by !== null ? (
          <>
            by <ActorName actor={by} />
          </>
        ) : (
          grant.kind === "allowance" && "from the plan"
        )}
      </div>
    </>
  );
}

function Kind({ grant: { kind, grant, reference, pool } }: { grant: Grant }) {
  const given = givenReference(reference);
  return (
    <>
      <span className="font-medium">{GRANT_NAMES[kind]}</span>
      <div className="text-caption text-muted">
        grant {grant}
        {pool !== "credits" && (
          <>
            , <PoolName pool={pool} />
          </>
        )}
      </div>
      {given !== null && (
        <div className="max-w-36 truncate font-mono text-caption text-muted md:hidden" title={given}>
          {given}
        </div>
      )}
    </>
  );
}

function Reference({ reference }: { reference: string | null }) {
  if (reference === null) return null;
  return (
    <span className="-my-1.5 flex items-center gap-1">
      <code className="max-w-40 truncate font-mono text-caption" title={reference}>
        {reference}
      </code>
      <CopyButton text={reference} label={`Copy ${reference}`} />
    </span>
  );
}

function GrantActions(props: { customerScope: CustomerScope; grant: Grant }) {
  return (
    <span className="inline-flex items-center gap-1">
      <MoveButton {...props} />
      <RevokeButton {...props} />
    </span>
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
