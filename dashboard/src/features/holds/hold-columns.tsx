import { HOLD_STATUS_NAMES, type HoldStatus, overageHeldIn } from "../../format/holds.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { formatDuration } from "../../format/times.ts";
import { Badge, type BadgeTone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { type Column, csvColumn } from "../../ui/table.tsx";
import { Muted, OverageNote, Truncated } from "../../ui/text.tsx";
import { Time } from "../../ui/time.tsx";
import type { CustomerScope } from "../customers/queries.ts";
import { ActorName, ChargeLink } from "../ledger/ledger-links.tsx";
import type { Hold, HoldLine } from "../ledger/queries.ts";

export type HoldContext = {
  readonly customerScope: CustomerScope;
  /** Names of features by key. */
  readonly names: ReadonlyMap<string, string>;
  /** Opens the confirmation dialog. Null if the user's role cannot release holds. */
  readonly onRelease: ((hold: Hold) => void) | null;
};

export function openColumns({ names, onRelease }: HoldContext): Column<HoldLine>[] {
  return [
    {
      name: "Opened",
      hidesBelow: "md",
      csv: ({ hold }) => hold.openedAt,
      cell: ({ hold }) => <Time at={hold.openedAt} as="ago" />,
    },
    {
      name: "Features",
      isWide: true,
      csv: ({ hold }) => hold.items.map(({ feature }) => names.get(feature) ?? feature).join(", "),
      cell: ({ hold }) => (
        <>
          <HeldItems hold={hold} names={names} />
          <div className="text-caption text-muted md:hidden">
            <NarrowMember id={hold.memberId} />
            <div>
              Opened <Time at={hold.openedAt} as="ago" />
            </div>
            Ends <Ends hold={hold} />
          </div>
        </>
      ),
    },
    {
      name: "Member",
      hidesBelow: "md",
      csv: ({ hold }) => hold.memberId,
      cell: ({ hold }) => <Member id={hold.memberId} />,
    },
    {
      name: "Ends",
      hidesBelow: "md",
      csv: ({ hold }) => hold.expiresAt,
      cell: ({ hold }) => <Ends hold={hold} />,
    },
    {
      name: "Held",
      isNumber: true,
      csv: ({ hold }) => hold.creditsHeld,
      cell: ({ hold }) => (
        <>
          <span className="font-medium">{formatCount(hold.creditsHeld)}</span>
          <OverageNote credits={overageHeldIn(hold)} />
        </>
      ),
    },
    csvColumn("Overage held", ({ hold }) => overageHeldIn(hold)),
    csvColumn("Hold ID", ({ hold }) => hold.holdId),
    {
      isShown: onRelease !== null,
      name: "Actions",
      isActions: true,
      hidesBelow: "md",
      cell: ({ hold }) => <ReleaseButton hold={hold} onRelease={onRelease} />,
    },
  ];
}

export function endedColumns({ customerScope, names }: HoldContext): Column<HoldLine>[] {
  return [
    {
      name: "Opened",
      hidesBelow: "md",
      csv: ({ hold }) => hold.openedAt,
      cell: ({ hold }) => (
        <>
          <Time at={hold.openedAt} />
          <Lasted hold={hold} />
        </>
      ),
    },
    {
      name: "Features",
      isWide: true,
      csv: ({ hold }) => hold.items.map(({ feature }) => names.get(feature) ?? feature).join(", "),
      cell: ({ hold, by }) => (
        <>
          <HeldItems hold={hold} names={names} />
          <div className="text-caption text-muted md:hidden">
            <NarrowMember id={hold.memberId} />
            <Time at={hold.openedAt} />
            <div className="mt-1">
              <State line={{ hold, by }} />
            </div>
          </div>
        </>
      ),
    },
    {
      name: "Member",
      hidesBelow: "md",
      csv: ({ hold }) => hold.memberId,
      cell: ({ hold }) => <Member id={hold.memberId} />,
    },
    {
      name: "Held",
      isNumber: true,
      hidesBelow: "md",
      csv: ({ hold }) => hold.creditsHeld,
      cell: ({ hold }) => (
        <>
          {formatCount(hold.creditsHeld)}
          <OverageNote credits={overageHeldIn(hold)} />
        </>
      ),
    },
    {
      name: "Charged",
      isNumber: true,
      csv: ({ hold }) => hold.creditsCharged,
      cell: ({ hold }) => (
        <>
          <Charged hold={hold} customerScope={customerScope} />
          <div className="text-caption text-muted md:hidden">of {formatCount(hold.creditsHeld)}</div>
          <OverageNote credits={hold.overageCredits} />
        </>
      ),
    },
    {
      name: "Released",
      isNumber: true,
      hidesBelow: "xl",
      csv: ({ hold }) => hold.creditsReleased,
      cell: ({ hold }) => formatCount(hold.creditsReleased),
    },
    {
      name: "State",
      hidesBelow: "md",
      csv: ({ hold }) => nameOfState(hold),
      cell: (line) => <State line={line} />,
    },
    csvColumn("Overage held", ({ hold }) => overageHeldIn(hold)),
    csvColumn("Overage charged", ({ hold }) => hold.overageCredits),
    csvColumn("Not covered", ({ hold }) => hold.creditsUncovered),
    csvColumn("Hold ID", ({ hold }) => hold.holdId),
  ];
}

const LINES_MAX = 3;

/**
 * Features and quantities: "Chat tokens × 2,000". After a settlement: "Chat tokens × 812 of 2,000", or "Chat tokens × 30 (5 held)" for
 * usage beyond the hold.
 */
function HeldItems({ hold: { items, status }, names }: { hold: Hold; names: HoldContext["names"] }) {
  const more = items.length - LINES_MAX;
  return (
    <>
      {items.slice(0, LINES_MAX).map(({ feature, quantity, quantityUsed }) => (
        <div key={feature} title={feature} className="wrap-anywhere">
          {names.get(feature) ?? feature}{" "}
          <span className="text-muted tabular-nums">
            × {formatCount(status === "settled" ? quantityUsed : quantity)}
            {status === "settled" && quantityUsed < quantity && ` of ${formatCount(quantity)}`}
            {status === "settled" && quantityUsed > quantity && ` (${formatCount(quantity)} held)`}
          </span>
        </div>
      ))}
      {more > 0 && <div className="text-caption text-muted">and {formatCount(more)} more</div>}
    </>
  );
}

function Member({ id }: { id: string | null }) {
  return id === null ? <Muted /> : <Truncated text={id} width="max-w-32" />;
}

function NarrowMember({ id }: { id: string | null }) {
  return id !== null && <div className="wrap-anywhere">Member {id}</div>;
}

function Ends({ hold: { expiresAt, onExpiry } }: { hold: Hold }) {
  return (
    <>
      <Time at={expiresAt} as="ago" />
      <span className="text-caption text-muted md:block">
        <span className="md:hidden">, </span>then {onExpiry === "charge" ? "charged in full" : "released"}
      </span>
    </>
  );
}

function Lasted({ hold: { openedAt, endedAt } }: { hold: Hold }) {
  if (endedAt === null) return null;
  const ms = Date.parse(endedAt) - Date.parse(openedAt);
  return <div className="text-caption text-muted">held for {formatDuration(ms)}</div>;
}

function Charged({
  hold: { creditsCharged, consumeId },
  customerScope,
}: {
  hold: Hold;
  customerScope: CustomerScope;
}) {
  if (consumeId === null) return formatCount(creditsCharged);
  return (
    <ChargeLink customerScope={customerScope} charge={consumeId} item={null} to={null}>
      {formatCount(creditsCharged)}
    </ChargeLink>
  );
}

const TONES = {
  open: "accent",
  settled: "good",
  released: "plain",
  expired: "warn",
  charged: "warn",
} as const satisfies Record<HoldStatus, BadgeTone>;

function nameOfState({ status, late }: Hold): string {
  return late ? "Settled late" : HOLD_STATUS_NAMES[status];
}

function State({ line: { hold, by } }: { line: HoldLine }) {
  const { status, creditsUncovered } = hold;
  return (
    <span className="flex flex-wrap items-center gap-1 md:flex-col md:items-start">
      <Badge tone={TONES[status]}>{nameOfState(hold)}</Badge>
      {creditsUncovered > 0 && <Badge tone="bad">{countOf(creditsUncovered, "credit")} not covered</Badge>}
      {by !== null && (
        <span className="text-caption text-muted">
          by <ActorName actor={by} />
        </span>
      )}
    </span>
  );
}

export function ReleaseButton({ hold, onRelease }: { hold: Hold; onRelease: HoldContext["onRelease"] }) {
  if (onRelease === null || hold.status !== "open") return null;
  return (
    <span className="-my-1.5 -mr-2 inline-flex">
      <Button tone="quiet" onClick={() => onRelease(hold)}>
        Release<span className="sr-only"> hold {hold.holdId}</span>
      </Button>
    </span>
  );
}
