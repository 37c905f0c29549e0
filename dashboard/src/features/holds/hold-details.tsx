import type { ReactNode } from "react";
import { describeResult, ON_EXPIRY_NAMES, overageHeldIn } from "../../format/holds.ts";
import { formatCount } from "../../format/numbers.ts";
import { PoolName } from "../../frame/links.tsx";
import { CodeBlock, CopyButton, Json } from "../../ui/code-block.tsx";
import { Details } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Mono } from "../../ui/text.tsx";
import { Time } from "../../ui/time.tsx";
import { ActorName, ChargeLink } from "../ledger/ledger-links.tsx";
import type { Hold, HoldLine } from "../ledger/queries.ts";
import { type HoldContext, ReleaseButton } from "./hold-columns.tsx";

type Item = { name: string; value: ReactNode };

export function HoldDetails({ line, context }: { line: HoldLine; context: HoldContext }) {
  const { hold } = line;
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-x-10 gap-y-4 md:grid-cols-2">
        <Details items={itemsOf(line, context)} />
        {hold.items.length > 1 && <HeldItems hold={hold} names={context.names} />}
      </div>
      {hold.metadata !== null && (
        <CodeBlock label="the metadata" code={JSON.stringify(hold.metadata, null, 2)} />
      )}
      {/* In a narrow window, the table has no room for the button. */}
      <div className="md:hidden">
        <ReleaseButton hold={hold} onRelease={context.onRelease} />
      </div>
      <Json label={`hold ${hold.holdId}`} value={hold} />
    </div>
  );
}

function itemsOf({ hold, by }: HoldLine, { customerScope }: HoldContext): Item[] {
  const { holdId, openedAt, expiresAt, endedAt, onExpiry, memberId, creditsBeyondHold, consumeId } = hold;
  const isOpen = endedAt === null;
  const items: (Item | null)[] = [
    { name: "Hold", value: <HoldId holdId={holdId} /> },
    isOpen ? null : { name: "Result", value: describeResult(hold) },
    { name: "Opened", value: <Time at={openedAt} as="exact" /> },
    isOpen
      ? { name: "Ends", value: <Time at={expiresAt} as="exact" /> }
      : { name: "Ended", value: <Time at={endedAt} as="exact" /> },
    isOpen ? { name: "On expiry", value: ON_EXPIRY_NAMES[onExpiry] } : null,
    by === null ? null : { name: "Released by", value: <ActorName actor={by} /> },
    memberId === null ? null : { name: "Member", value: memberId },
    { name: "Credits held", value: formatCount(hold.creditsHeld) },
    overageHeldIn(hold) === 0 ? null : { name: "Overage held", value: formatCount(overageHeldIn(hold)) },
    creditsBeyondHold === 0
      ? null
      : { name: "Charged beyond the hold", value: formatCount(creditsBeyondHold) },
    consumeId === null
      ? null
      : {
          name: "Charge",
          value: (
            <ChargeLink customerScope={customerScope} charge={consumeId} item={null} to={null}>
              <Mono>{consumeId}</Mono>
            </ChargeLink>
          ),
        },
  ];
  return items.filter((item) => item !== null);
}

function HoldId({ holdId }: { holdId: string }) {
  return (
    <span className="-my-1.5 flex items-center gap-1">
      <Mono>{holdId}</Mono>
      <CopyButton text={holdId} label="Copy hold ID" />
    </span>
  );
}

type HeldItem = Hold["items"][number];

function HeldItems({ hold, names }: { hold: Hold; names: HoldContext["names"] }) {
  const pools = new Set(hold.items.map(({ pool }) => pool));
  const columns: readonly Column<HeldItem>[] = [
    {
      name: "Feature",
      cell: ({ feature, pool }) => (
        <>
          <span title={feature}>{names.get(feature) ?? feature}</span>
          {pools.size > 1 && (
            <div className="text-caption text-muted">
              <PoolName pool={pool} />
            </div>
          )}
        </>
      ),
    },
    { name: "Quantity", isNumber: true, cell: ({ quantity }) => formatCount(quantity) },
    {
      isShown: hold.status !== "open",
      name: "Used",
      isNumber: true,
      cell: ({ quantityUsed }) => formatCount(quantityUsed),
    },
    { name: "Credits", isNumber: true, cell: ({ creditsHeld }) => formatCount(creditsHeld) },
    {
      isShown: overageHeldIn(hold) > 0,
      name: "Overage",
      isNumber: true,
      cell: ({ overageCredits }) => formatCount(overageCredits),
    },
  ];
  return (
    <div className="self-start overflow-hidden rounded-md border border-line bg-surface">
      <Table label="Held features" columns={columns} rows={hold.items} keyOf={({ feature }) => feature} />
    </div>
  );
}
