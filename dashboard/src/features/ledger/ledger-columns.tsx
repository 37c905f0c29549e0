import { TriangleAlert } from "lucide-react";
import { describeEntry, describeTwin, GRANT_WORDS } from "../../format/ledger-words.ts";
import { formatChange, formatCount } from "../../format/numbers.ts";
import { Badge } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import type { Column } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { givenReference } from "../credits/credits-form.ts";
import { grantOfEntry } from "../credits/grants.ts";
import type { Whose } from "../customers/queries.ts";
import { ActorName, ChargeLink, KeyLink } from "./ledger-links.tsx";
import type { Entry, Grant, LedgerLine } from "./queries.ts";
import { type LedgerContext, ReverseButton } from "./reverse-charge.tsx";

export function ledgerColumns(context: LedgerContext): Column<LedgerLine>[] {
  const { whose, grants, mayReverse } = context;
  return [
    { name: "Time", hidesWhenNarrow: true, cell: ({ entry }) => <Time at={entry.effectiveAt} /> },
    { name: "Entry", isWide: true, cell: ({ entry }) => <What entry={entry} context={context} /> },
    { name: "For", hidesWhenNarrow: true, cell: ({ entry }) => <About entry={entry} context={context} /> },
    {
      name: "Key or author",
      hidesWhenNarrow: true,
      cell: (line) => <Origin line={line} grant={grantOfEntry(line.entry, grants)} whose={whose} />,
    },
    { name: "Change", isNumber: true, cell: ({ entry }) => <Change entry={entry} /> },
    {
      name: "Balance",
      isNumber: true,
      hidesWhenNarrow: true,
      cell: ({ entry }) => formatCount(entry.balanceAfter),
    },
    {
      isShown: mayReverse,
      name: "Actions",
      isNameHidden: true,
      isNumber: true,
      hidesWhenNarrow: true,
      cell: ({ entry }: LedgerLine) => <ReverseButton entry={entry} context={context} />,
    },
  ];
}

function What({ entry, context }: { entry: Entry; context: LedgerContext }) {
  const twin = context.twins.get(entry.sequence);
  const given = grantOfEntry(entry, context.grants)?.kind ?? null;
  return (
    <div>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-medium">{describeEntry(entry.kind, given)}</span>
        {twin !== undefined && (
          <Badge tone="warn">
            <TriangleAlert className="size-3" aria-hidden />
            {describeTwin(twin.gapMs)}
          </Badge>
        )}
        <Reversed entry={entry} context={context} />
      </div>
      <div className="text-caption text-muted md:hidden">
        <About entry={entry} context={context} /> <Time at={entry.effectiveAt} />
      </div>
    </div>
  );
}

/** Links a charge and its reversal. */
function Reversed({ entry, context: { whose, lines } }: { entry: Entry; context: LedgerContext }) {
  const { consumeId, reverses, quantity, reversedQuantity } = entry;
  if (reverses !== null) {
    const charge = lines.find((line) => line.entry.consumeId === reverses)?.entry;
    return (
      <ChargeLink whose={whose} charge={reverses} to={charge ?? null}>
        of a charge
      </ChargeLink>
    );
  }
  if (consumeId === null || reversedQuantity === null || reversedQuantity === 0) return null;
  const reversal = lines.find((line) => line.entry.reverses === consumeId)?.entry;
  return (
    <ChargeLink whose={whose} charge={consumeId} to={reversal ?? null}>
      {reversedQuantity === quantity
        ? "Reversed"
        : `${formatCount(reversedQuantity)} of ${formatCount(quantity ?? 0)} reversed`}
    </ChargeLink>
  );
}

function About({ entry, context: { grants, features } }: { entry: Entry; context: LedgerContext }) {
  const { kind, feature, quantity } = entry;
  if (feature !== null) {
    const name = features.find(({ key }) => key === feature)?.name ?? feature;
    return (
      <span title={feature}>
        {name} <span className="text-muted tabular-nums">× {formatCount(quantity ?? 1)}</span>
      </span>
    );
  }
  const grant = grantOfEntry(entry, grants);
  if (grant === null) return null;
  // The entry itself already says "Plan credits".
  return kind === "grant" && grant.kind === "allowance" ? null : (
    <span className="text-muted">{GRANT_WORDS[grant.kind]}</span>
  );
}

function Origin({ line, grant, whose }: { line: LedgerLine; grant: Grant | null; whose: Whose }) {
  const { entry, by } = line;
  if (entry.idempotencyKey !== null) return <KeyLink whose={whose} idempotencyKey={entry.idempotencyKey} />;
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
          params={whose}
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

function Change({ entry: { amount, balanceAfter } }: { entry: Entry }) {
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
      <div className="text-caption text-muted md:hidden">to {formatCount(balanceAfter)}</div>
    </>
  );
}
