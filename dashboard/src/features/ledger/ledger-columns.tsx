import { TriangleAlert } from "lucide-react";
import { nameOfCreator } from "../../format/creator.ts";
import { describeDuplicate, describeEntry, GRANT_NAMES } from "../../format/ledger.ts";
import { formatChange, formatCount } from "../../format/numbers.ts";
import { KeyLink } from "../../frame/links.tsx";
import { Badge } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { type Column, csvColumn } from "../../ui/table.tsx";
import { OverageNote, Truncated } from "../../ui/text.tsx";
import { Time } from "../../ui/time.tsx";
import { givenReference } from "../credits/credits-form.ts";
import { findGrant, grantOfEntry } from "../credits/grants.ts";
import type { CustomerScope } from "../customers/queries.ts";
import { ActorName, ChargeLink, MovedLink } from "./ledger-links.tsx";
import type { Entry, Grant, LedgerLine } from "./queries.ts";
import { type LedgerContext, ReverseButton } from "./reverse-charge.tsx";

export function ledgerColumns(context: LedgerContext): Column<LedgerLine>[] {
  const { customerScope, grants, nameOfPool, mayReverse } = context;
  return [
    {
      name: "Time",
      hidesBelow: "md",
      csv: ({ entry }) => entry.effectiveAt,
      // The entries of one request have the same time.
      sortBy: ({ entry }) => entry.sequence,
      cell: ({ entry }) => <Time at={entry.effectiveAt} />,
    },
    {
      name: "Entry",
      isWide: true,
      csv: ({ entry }) => describeEntry(entry.kind, grantOfEntry(entry, grants)?.kind ?? null),
      cell: (line) => <What line={line} context={context} />,
    },
    {
      name: "For",
      hidesBelow: "md",
      csv: ({ entry }) => nameOfSubject(entry, context),
      cell: ({ entry }) => <About entry={entry} context={context} />,
    },
    csvColumn("Quantity", ({ entry }) => entry.quantity),
    {
      name: "Idempotency key or actor",
      hidesBelow: "xl",
      cell: (line) => (
        <Origin line={line} grant={grantOfEntry(line.entry, grants)} customerScope={customerScope} />
      ),
    },
    csvColumn("Idempotency key", ({ entry }) => entry.idempotencyKey),
    csvColumn("Reference", ({ entry }) => referenceOf(entry, context)),
    csvColumn("By", ({ by }) => by && nameOfCreator(by)),
    csvColumn("Pool", ({ entry }) => nameOfPool(entry.pool)),
    {
      name: "Change",
      isNumber: true,
      csv: ({ entry }) => entry.amount,
      cell: ({ entry }) => <Change entry={entry} />,
    },
    csvColumn("Overage", ({ entry }) => entry.overage),
    {
      name: "Balance",
      isNumber: true,
      hidesBelow: "xl",
      csv: ({ entry }) => entry.balanceAfter,
      cell: ({ entry }) => formatCount(entry.balanceAfter),
    },
    {
      isShown: mayReverse,
      name: "Actions",
      isActions: true,
      hidesBelow: "md",
      cell: ({ entry }: LedgerLine) => <ReverseButton entry={entry} context={context} />,
    },
  ];
}

function What({ line, context }: { line: LedgerLine; context: LedgerContext }) {
  const { entry } = line;
  const duplicate = context.duplicates.get(entry.sequence);
  const given = grantOfEntry(entry, context.grants)?.kind ?? null;
  return (
    <div>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-medium">{describeEntry(entry.kind, given)}</span>
        {duplicate !== undefined && (
          <Badge tone="warn" wraps>
            <TriangleAlert className="size-3 shrink-0" aria-hidden />
            {describeDuplicate(duplicate.gapMs)}
          </Badge>
        )}
        <Reversed entry={entry} context={context} />
        <MovedWith line={line} context={context} />
      </div>
      <div className="text-caption text-muted md:hidden">
        <About entry={entry} context={context} /> <Time at={entry.effectiveAt} />
      </div>
    </div>
  );
}

/** Links to the customer that the credits were moved to or from. */
function MovedWith({
  line: { entry, movedGrant },
  context: { customerScope, grants },
}: {
  line: LedgerLine;
  context: LedgerContext;
}) {
  const grant = movedGrant === null ? null : findGrant(grants, movedGrant);
  const other = (entry.kind === "grant" ? grant?.movedFrom : grant?.movedTo) ?? null;
  if (other === null) return null;
  return (
    <span className="text-muted">
      {entry.kind === "grant" ? "moved from" : "moved to"}{" "}
      <MovedLink other={other} customerScope={customerScope} />
    </span>
  );
}

/** Links a charge and its reversal. */
function Reversed({ entry, context: { customerScope, lines } }: { entry: Entry; context: LedgerContext }) {
  const { consumeId, reverses, item, quantity, reversedQuantity } = entry;
  if (reverses !== null) {
    const charge = lines.find((line) => line.entry.consumeId === reverses && line.entry.item === item)?.entry;
    return (
      <ChargeLink customerScope={customerScope} charge={reverses} item={item} to={charge ?? null}>
        of a charge
      </ChargeLink>
    );
  }
  if (consumeId === null || reversedQuantity === null || reversedQuantity === 0) return null;
  const reversal = lines.find((line) => line.entry.reverses === consumeId && line.entry.item === item)?.entry;
  return (
    <ChargeLink customerScope={customerScope} charge={consumeId} item={item} to={reversal ?? null}>
      {reversedQuantity === quantity
        ? "Reversed"
        : `${formatCount(reversedQuantity)} of ${formatCount(quantity ?? 0)} reversed`}
    </ChargeLink>
  );
}

function referenceOf(entry: Entry, { grants }: LedgerContext): string | null {
  return entry.kind === "grant" ? givenReference(grantOfEntry(entry, grants)?.reference ?? null) : null;
}

/** The feature of a charge, or the kind of the grant. */
function nameOfSubject(entry: Entry, { grants, features }: LedgerContext): string | null {
  const { kind, feature } = entry;
  if (feature !== null) return features.find(({ key }) => key === feature)?.name ?? feature;
  const grant = grantOfEntry(entry, grants);
  // The entry itself already shows "Plan credits".
  return grant === null || (kind === "grant" && grant.kind === "allowance") ? null : GRANT_NAMES[grant.kind];
}

function About({ entry, context }: { entry: Entry; context: LedgerContext }) {
  const { feature, quantity } = entry;
  const name = nameOfSubject(entry, context);
  if (feature === null) return name !== null && <span className="text-muted">{name}</span>;
  return (
    <span title={feature}>
      {name} <span className="text-muted tabular-nums">× {formatCount(quantity ?? 1)}</span>
    </span>
  );
}

function Origin({
  line,
  grant,
  customerScope,
}: {
  line: LedgerLine;
  grant: Grant | null;
  customerScope: CustomerScope;
}) {
  const { entry, by } = line;
  if (entry.idempotencyKey !== null)
    return (
      <KeyLink idempotencyKey={entry.idempotencyKey}>
        <Truncated text={entry.idempotencyKey} />
      </KeyLink>
    );
  const reference = entry.kind === "grant" ? (grant?.reference ?? null) : null;
  return (
    <div className="max-w-44">
      {by !== null && (
        <div className="truncate">
          <ActorName actor={by} />
        </div>
      )}
      {reference !== null && grant !== null && (
        <TextLink
          to="/projects/$projectId/$environment/customers/$customerId/grants"
          params={customerScope}
          search={{ grant: grant.grant }}
          title={reference}
        >
          {givenReference(reference) === null ? (
            `grant ${grant.grant}`
          ) : (
            <span className="block truncate font-mono text-caption">{reference}</span>
          )}
        </TextLink>
      )}
    </div>
  );
}

function Change({ entry: { kind, amount, overage, balanceAfter } }: { entry: Entry }) {
  return (
    <>
      <span
        className={classNames(
          "font-medium",
          amount > 0 && "text-good",
          amount === 0 && "font-normal text-muted",
        )}
      >
        {formatChange(amount)}
      </span>
      <OverageNote credits={overage} suffix={kind === "reverse" ? " reversed" : ""} />
      <div className="text-caption text-muted xl:hidden">balance {formatCount(balanceAfter)}</div>
    </>
  );
}
