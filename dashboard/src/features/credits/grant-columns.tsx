import { GRANT_NAMES, GRANT_STATE_NAMES, type GrantState } from "../../format/ledger.ts";
import { formatCount, formatPrice } from "../../format/numbers.ts";
import { PoolName } from "../../frame/links.tsx";
import { Badge, type BadgeTone } from "../../ui/badge.tsx";
import { CopyButton } from "../../ui/code-block.tsx";
import { type Column, csvColumn } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import type { CustomerScope } from "../customers/queries.ts";
import { ActorName } from "../ledger/ledger-links.tsx";
import type { Grant, GrantLine, PlanChange } from "../ledger/queries.ts";
import { givenReference } from "./credits-form.ts";
import { stateOfGrant } from "./grants.ts";
import { MoveButton } from "./move-grant.tsx";
import { RevokeButton } from "./revoke-grant.tsx";

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

export function grantColumns({
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
      cell: ({ grant }) => <Payment grant={grant} />,
    },
    csvColumn("Price", ({ grant: { price } }) => price && formatPrice(price)),
    {
      name: "Expires",
      hidesBelow: "md",
      csv: ({ grant }) => grant.expiresAt,
      cell: ({ grant }) => <Time at={grant.expiresAt} as="day" />,
    },
    {
      name: "Amount",
      isNumber: true,
      hidesBelow: "xl",
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
          <div className="text-caption text-muted xl:hidden">of {formatCount(credits)}</div>
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

function Payment({ grant: { reference, price } }: { grant: Grant }) {
  const given = givenReference(reference);
  return (
    <>
      {given !== null && (
        <span className="-my-1.5 flex items-center gap-1">
          <code className="max-w-36 truncate font-mono text-caption" title={given}>
            {given}
          </code>
          <CopyButton text={given} label={`Copy ${given}`} />
        </span>
      )}
      {price !== null && <div className="text-caption text-muted">{formatPrice(price)}</div>}
    </>
  );
}

export function GrantActions(props: { customerScope: CustomerScope; grant: Grant }) {
  return (
    <span className="inline-flex items-center gap-1">
      <MoveButton {...props} />
      <RevokeButton {...props} />
    </span>
  );
}
