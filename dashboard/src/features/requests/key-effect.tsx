import type { ReactNode } from "react";
import { describeRequired } from "../../format/denial-sentences.ts";
import { HOLD_STATUS_NAMES, ON_EXPIRY_NAMES, overageHeldIn } from "../../format/holds.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { formatCharge, formatReturn, overageIn } from "../../format/overage.ts";
import { chargedIn, describeReason, pathOf, reversedBy } from "../../format/request-sentences.ts";
import { EventName, FeatureName, NamedCustomer } from "../../frame/links.tsx";
import { useScope } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Card, Details } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Mono, Muted, OverageNote } from "../../ui/text.tsx";
import { Time } from "../../ui/time.tsx";
import { askedRows } from "./asked-rows.tsx";
import { itemsOf } from "./compare-reuse.ts";
import type { KeyHistory } from "./queries.ts";

type Item = { name: string; value: ReactNode };

/** The charge, denial, hold or event behind an idempotency key. */
export function KeyEffect({ history }: { history: KeyHistory }) {
  const { charge, charges, denial, hold, event } = history;
  const { memberId = null, metadata = null } = charge ?? denial ?? hold ?? event ?? {};
  return (
    <Card title="Result">
      <div className="flex flex-col gap-4">
        <Details
          items={[
            {
              name: "Outcome",
              value:
                history.endpoint === "consume/reverse" ? (
                  <Badge tone="good">Reversed</Badge>
                ) : charge !== null ? (
                  <Badge tone="good">Charged</Badge>
                ) : denial !== null ? (
                  <Badge tone="bad">Denied</Badge>
                ) : hold !== null ? (
                  <Badge tone="good">Held</Badge>
                ) : (
                  <Badge tone="good">Recorded</Badge>
                ),
            },
            ...(history.recordedAt === null
              ? []
              : [{ name: "Time", value: <Time at={history.recordedAt} as="exact" /> }]),
            ...(history.endpoint === null
              ? []
              : [{ name: "Endpoint", value: <Mono>{`POST ${pathOf(history.endpoint)}`}</Mono> }]),
            {
              name: "Customer",
              value: (
                <NamedCustomer customerId={history.customerId} name={history.customerName} missing="Erased" />
              ),
            },
            ...(memberId === null ? [] : [{ name: "Member", value: memberId }]),
            ...reversalItems(history),
            ...chargeItems(history),
            ...denialItems(history),
            ...holdItems(history),
            ...eventItems(history),
          ]}
        />
        {charges.length > 1 && <Charges charges={charges} />}
        {metadata !== null && <CodeBlock label="the metadata" code={JSON.stringify(metadata, null, 2)} />}
      </div>
    </Card>
  );
}

function chargeItems(history: KeyHistory): Item[] {
  const { charge, charges, customerId } = history;
  if (charge === null) return [];
  const charged = formatCharge(chargedIn(charges));
  if (charges.length > 1) {
    return [
      { name: "Charged", value: charged },
      { name: "Ledger entries", value: <LedgerLink customerId={customerId} consumeId={charge.consumeId} /> },
    ];
  }
  const { feature, quantity, balanceAfter, consumeId, reversedQuantity } = charge;
  const reversed = { credits: charge.reversedCredits, overage: charge.reversedOverageCredits };
  return [
    { name: "Feature", value: <FeatureName feature={feature} hasKey /> },
    { name: "Quantity", value: formatCount(quantity) },
    { name: "Charged", value: charged },
    { name: "Ledger balance after", value: formatCount(balanceAfter) },
    ...(reversedQuantity === 0
      ? []
      : [
          {
            name: "Reversed",
            value: `${formatCount(reversedQuantity)} of ${formatCount(quantity)}, ${formatReturn(reversed)}`,
          },
        ]),
    { name: "Ledger entry", value: <LedgerLink customerId={customerId} consumeId={consumeId} /> },
  ];
}

/** Rows for the reversal with this key. Rows for the reversed charge follow. */
function reversalItems({ endpoint, answer }: KeyHistory): Item[] {
  const reversed = endpoint === "consume/reverse" ? reversedBy(answer) : null;
  if (reversed === null) return [];
  const { feature, quantity, creditsReturned } = reversed;
  const overage = overageIn(answer);
  return [
    { name: "Reversed with this key", value: <Amounts items={[{ feature, quantity }]} /> },
    { name: "Returned", value: countOf(creditsReturned, "credit") },
    ...(overage === 0 ? [] : [{ name: "Overage", value: `${countOf(overage, "credit")} reversed` }]),
  ];
}

/** Features and their quantities, on one line. */
function Amounts({ items }: { items: readonly { feature: string; quantity: number }[] }) {
  return items.map(({ feature, quantity }, index) => (
    <span key={feature}>
      {index > 0 && ", "}
      <FeatureName feature={feature} /> × {formatCount(quantity)}
    </span>
  ));
}

type Charge = KeyHistory["charges"][number];

const CHARGE_COLUMNS: readonly Column<Charge>[] = [
  {
    name: "Feature",
    isWide: true,
    cell: ({ feature, quantity }) => (
      <>
        <FeatureName feature={feature} />
        <span className="text-muted md:hidden"> × {formatCount(quantity)}</span>
      </>
    ),
  },
  {
    name: "Quantity",
    isNumber: true,
    hidesBelow: "md",
    cell: ({ quantity }) => formatCount(quantity),
  },
  {
    name: "Credits",
    isNumber: true,
    cell: ({ credits, overageCredits }) => (
      <>
        {formatCount(credits)}
        <OverageNote credits={overageCredits} />
      </>
    ),
  },
  {
    name: "Reversed",
    isNumber: true,
    cell: ({ quantity, reversedQuantity }) =>
      reversedQuantity === 0 ? <Muted /> : `${formatCount(reversedQuantity)} of ${formatCount(quantity)}`,
  },
];

/** The charges of a request with several items. */
function Charges({ charges }: { charges: readonly Charge[] }) {
  return (
    <div className="overflow-hidden rounded-md border border-line">
      <Table
        label="Charges in this request"
        columns={CHARGE_COLUMNS}
        rows={charges}
        keyOf={({ feature }) => feature}
      />
    </div>
  );
}

function denialItems(history: KeyHistory): Item[] {
  if (history.denial === null) return [];
  const denial = { ...history.denial, items: itemsOf(history) };
  return [
    ...askedRows(denial),
    { name: "Reason", value: describeReason(denial.reason ?? "") },
    { name: "Required", value: describeRequired(denial) },
    { name: "Available", value: countOf(denial.balance, "credit") },
    { name: "Explanation", value: <WhyLink denialId={denial.denialId} /> },
  ];
}

function holdItems({ hold, customerId }: KeyHistory): Item[] {
  if (hold === null) return [];
  const { holdId, status, items, expiresAt, endedAt, onExpiry, consumeId } = hold;
  return [
    { name: "Hold", value: <HoldLink customerId={customerId} holdId={holdId} /> },
    { name: "State", value: HOLD_STATUS_NAMES[status] },
    { name: items.length === 1 ? "Feature" : "Features", value: <Amounts items={items} /> },
    { name: "Held", value: formatCharge({ credits: hold.creditsHeld, overage: overageHeldIn(hold) }) },
    ...(endedAt === null
      ? [
          { name: "Expires", value: <Time at={expiresAt} as="exact" /> },
          { name: "On expiry", value: ON_EXPIRY_NAMES[onExpiry] },
        ]
      : [
          { name: "Ended", value: <Time at={endedAt} as="exact" /> },
          {
            name: "Charged",
            value: formatCharge({ credits: hold.creditsCharged, overage: hold.overageCredits }),
          },
        ]),
    ...(hold.creditsUncovered === 0
      ? []
      : [{ name: "Not covered", value: countOf(hold.creditsUncovered, "credit") }]),
    ...(consumeId === null
      ? []
      : [{ name: "Ledger entry", value: <LedgerLink customerId={customerId} consumeId={consumeId} /> }]),
  ];
}

function eventItems({ event }: KeyHistory): Item[] {
  if (event === null) return [];
  return [
    { name: "Event", value: <EventName event={event.event} hasKey /> },
    { name: "Quantity", value: formatCount(event.quantity) },
    { name: "Occurred", value: <Time at={event.occurredAt} as="exact" /> },
    { name: "Event ID", value: <Mono>{event.eventId}</Mono> },
    { name: "Credits", value: <span className="text-muted">None: events are free</span> },
  ];
}

function LedgerLink({ customerId, consumeId }: { customerId: string | null; consumeId: string }) {
  const scope = useScope();
  if (customerId === null) return <Mono>{consumeId}</Mono>;
  return (
    <TextLink
      to="/projects/$projectId/$environment/customers/$customerId/ledger"
      params={{ ...scope, customerId }}
      search={{ charge: consumeId }}
    >
      <Mono>{consumeId}</Mono>
    </TextLink>
  );
}

function HoldLink({ customerId, holdId }: { customerId: string | null; holdId: string }) {
  const scope = useScope();
  if (customerId === null) return <Mono>{holdId}</Mono>;
  return (
    <TextLink
      to="/projects/$projectId/$environment/customers/$customerId/holds"
      params={{ ...scope, customerId }}
      search={{ hold: holdId }}
    >
      <Mono>{holdId}</Mono>
    </TextLink>
  );
}

function WhyLink({ denialId }: { denialId: string }) {
  const scope = useScope();
  return (
    <TextLink to="/projects/$projectId/$environment/denials/$denialId" params={{ ...scope, denialId }}>
      See why
    </TextLink>
  );
}
