import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { planNamesQuery } from "../../api/catalog-lists.ts";
import { GRANT_NAMES } from "../../format/ledger.ts";
import { formatChange, formatCount } from "../../format/numbers.ts";
import { describeEntryOverage } from "../../format/overage.ts";
import { FeatureName, KeyLink } from "../../frame/links.tsx";
import { TextLink } from "../../ui/button.tsx";
import { CopyButton, Json } from "../../ui/code-block.tsx";
import { Details } from "../../ui/page.tsx";
import { Truncated } from "../../ui/text.tsx";
import { Time } from "../../ui/time.tsx";
import { findGrant } from "../credits/grants.ts";
import { ActorName, ChargeLink, GrantLink, MovedLink } from "./ledger-links.tsx";
import type { LedgerLine } from "./queries.ts";
import { type LedgerContext, ReverseButton } from "./reverse-charge.tsx";

type Item = { name: string; value: ReactNode };

export function LedgerDetails({ line, context }: { line: LedgerLine; context: LedgerContext }) {
  const { entry } = line;
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-x-10 gap-y-4 md:grid-cols-2">
        <Details items={[...itemsOf(line, context), ...movedItems(line, context)]} />
        <Moved line={line} context={context} />
      </div>
      {/* In a narrow window, the table has no room for the button. */}
      <div className="md:hidden">
        <ReverseButton entry={entry} context={context} />
      </div>
      <Json label={`entry ${entry.sequence}`} value={entry} />
    </div>
  );
}

function itemsOf({ entry, by }: LedgerLine, { customerScope }: LedgerContext): Item[] {
  const { effectiveAt, recordedAt, feature, quantity, plan, consumeId, idempotencyKey, reverses, item } =
    entry;
  const isCorrection = entry.kind === "reverse" || entry.kind === "revoke";
  const note = isCorrection ? textOf(entry.metadata?.["note"]) : null;
  const items: (Item | null)[] = [
    { name: "Entry", value: formatCount(entry.sequence) },
    { name: "Effective", value: <Time at={effectiveAt} /> },
    effectiveAt === recordedAt ? null : { name: "Recorded", value: <Time at={recordedAt} /> },
    by === null ? null : { name: "By", value: <ActorName actor={by} /> },
    note === null ? null : { name: "Reason", value: note },
    feature === null
      ? null
      : {
          name: "Feature",
          value: (
            <>
              <FeatureName feature={feature} hasKey /> × {formatCount(quantity ?? 1)}
            </>
          ),
        },
    entry.memberId === null ? null : { name: "Member", value: entry.memberId },
    plan === null ? null : { name: "Plan", value: <PlanName plan={plan} context={customerScope} /> },
    entry.overrides === null ? null : { name: "Overrides", value: `Version ${formatCount(entry.overrides)}` },
    idempotencyKey === null
      ? null
      : {
          name: "Request",
          value: (
            <KeyLink idempotencyKey={idempotencyKey}>
              <Truncated text={idempotencyKey} />
            </KeyLink>
          ),
        },
    item === null ? null : { name: "Item", value: `Item ${item + 1} of the request` },
    consumeId === null ? null : { name: "Charge", value: <Copyable text={consumeId} /> },
    entry.holdId === null ? null : { name: "Hold", value: <Copyable text={entry.holdId} /> },
    entry.overage === 0 ? null : { name: "Overage", value: describeEntryOverage(entry) },
    entry.uncovered === 0 ? null : { name: "Not covered", value: formatCount(entry.uncovered) },
    reverses === null
      ? null
      : {
          name: "Reverses",
          value: (
            <ChargeLink customerScope={customerScope} charge={reverses} item={item} to={null}>
              <span className="font-mono text-caption">{reverses}</span>
            </ChargeLink>
          ),
        },
  ];
  return items.filter((item) => item !== null);
}

/** The other customer, for credits that were moved. */
function movedItems({ movedGrant }: LedgerLine, { grants, customerScope }: LedgerContext): Item[] {
  const grant = movedGrant === null ? null : findGrant(grants, movedGrant);
  const items = [
    { name: "Moved from", other: grant?.movedFrom ?? null },
    { name: "Moved to", other: grant?.movedTo ?? null },
  ];
  return items.flatMap(({ name, other }) =>
    other === null ? [] : [{ name, value: <MovedLink other={other} customerScope={customerScope} /> }],
  );
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function PlanName({
  plan: { key, version },
  context: { projectId, environment },
}: {
  plan: { key: string; version: number };
  context: LedgerContext["customerScope"];
}) {
  const { data: names } = useQuery(planNamesQuery({ projectId, environment }));
  return (
    <>
      <TextLink to="/projects/$projectId/$environment/plans/$key" params={{ projectId, environment, key }}>
        {names?.get(key) ?? key}
      </TextLink>
      , version {version}
    </>
  );
}

function Copyable({ text }: { text: string }) {
  return (
    <span className="flex items-center gap-1">
      <code className="font-mono text-caption">{text}</code>
      <span className="-my-1.5">
        <CopyButton text={text} label={`Copy ${text}`} />
      </span>
    </span>
  );
}

function Moved({
  line: { entry },
  context: { customerScope, grants },
}: {
  line: LedgerLine;
  context: LedgerContext;
}) {
  if (entry.parts.length === 0)
    return (
      <p className="text-muted">
        {entry.overage === 0 ? "No credits were charged or returned." : "Only overage changed."}
      </p>
    );
  return (
    <div>
      <h3 className="mb-1 text-caption font-medium text-muted">Affected grants</h3>
      <ul className="divide-y divide-line rounded-md border border-line bg-surface">
        {entry.parts.map(({ grant: number, amount }) => {
          const grant = findGrant(grants, number);
          return (
            <li key={number} className="flex items-center gap-3 px-3 py-1.5">
              <span className="min-w-0 flex-1">
                <GrantLink customerScope={customerScope} grant={number}>
                  {grant === null ? `Grant ${number}` : `${GRANT_NAMES[grant.kind]} (grant ${number})`}
                </GrantLink>
                {grant !== null && (
                  <span className="text-muted">
                    {grant.expiresAt === null ? ", never expires" : <Until at={grant.expiresAt} />}
                  </span>
                )}
              </span>
              <span className="font-medium tabular-nums">{formatChange(amount)}</span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function Until({ at }: { at: string }) {
  return (
    <>
      , expires <Time at={at} as="day" />
    </>
  );
}
