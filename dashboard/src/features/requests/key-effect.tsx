import type { ReactNode } from "react";
import { describeRequired } from "../../format/denial-sentences.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { describeReason } from "../../format/request-sentences.ts";
import { CustomerLink } from "../../frame/links.tsx";
import { useScope } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Card, Details } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Mono, Muted } from "../../ui/text.tsx";
import { Time } from "../../ui/time.tsx";
import { askedRows } from "./asked-rows.tsx";
import { type Compared, compareReuse, itemsOf } from "./compare-reuse.ts";
import type { KeyHistory } from "./queries.ts";

type Item = { name: string; value: ReactNode };

/** The charge, denial or event behind an idempotency key. */
export function KeyEffect({ history }: { history: KeyHistory }) {
  const { charge, charges, denial, event } = history;
  const { memberId = null, metadata = null } = charge ?? denial ?? event ?? {};
  return (
    <Card title="Result">
      <div className="flex flex-col gap-4">
        <Details
          items={[
            {
              name: "Outcome",
              value:
                charge !== null ? (
                  <Badge tone="good">Charged</Badge>
                ) : denial !== null ? (
                  <Badge tone="bad">Denied</Badge>
                ) : (
                  <Badge tone="good">Recorded</Badge>
                ),
            },
            ...(history.recordedAt === null
              ? []
              : [{ name: "Time", value: <Time at={history.recordedAt} as="exact" /> }]),
            { name: "Endpoint", value: <Mono>{`POST /v1/${history.endpoint}`}</Mono> },
            { name: "Customer", value: <CustomerLink customerId={history.customerId} missing="Erased" /> },
            ...(memberId === null ? [] : [{ name: "Member", value: memberId }]),
            ...chargeItems(history),
            ...denialItems(history),
            ...eventItems(history),
          ]}
        />
        {charges.length > 1 && <Charges charges={charges} />}
        {metadata !== null && <CodeBlock label="the metadata" code={JSON.stringify(metadata, null, 2)} />}
      </div>
    </Card>
  );
}

function chargeItems({ charge, charges, customerId }: KeyHistory): Item[] {
  if (charge === null) return [];
  if (charges.length > 1) {
    const credits = charges.reduce((sum, each) => sum + each.credits, 0);
    return [
      { name: "Charged", value: countOf(credits, "credit") },
      { name: "Ledger entries", value: <LedgerLink customerId={customerId} consumeId={charge.consumeId} /> },
    ];
  }
  const { feature, quantity, credits, balanceAfter, consumeId, reversedQuantity, reversedCredits } = charge;
  return [
    { name: "Feature", value: <Mono>{feature}</Mono> },
    { name: "Quantity", value: formatCount(quantity) },
    { name: "Charged", value: countOf(credits, "credit") },
    { name: "Balance after", value: formatCount(balanceAfter) },
    ...(reversedQuantity === 0
      ? []
      : [
          {
            name: "Reversed",
            value: `${formatCount(reversedQuantity)} of ${formatCount(quantity)}, ${countOf(reversedCredits, "credit")} returned`,
          },
        ]),
    { name: "Ledger entry", value: <LedgerLink customerId={customerId} consumeId={consumeId} /> },
  ];
}

type Charge = KeyHistory["charges"][number];

const CHARGE_COLUMNS: readonly Column<Charge>[] = [
  {
    name: "Feature",
    isWide: true,
    cell: ({ feature, quantity }) => (
      <>
        <Mono>{feature}</Mono>
        <span className="text-muted md:hidden"> × {formatCount(quantity)}</span>
      </>
    ),
  },
  {
    name: "Quantity",
    isNumber: true,
    hidesWhenNarrow: true,
    cell: ({ quantity }) => formatCount(quantity),
  },
  { name: "Credits", isNumber: true, cell: ({ credits }) => formatCount(credits) },
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
        label="Charges of the request"
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

function eventItems({ event }: KeyHistory): Item[] {
  if (event === null) return [];
  return [
    { name: "Event", value: <Mono>{event.event}</Mono> },
    { name: "Quantity", value: formatCount(event.quantity) },
    { name: "Occurred", value: <Time at={event.occurredAt} as="exact" /> },
    { name: "Event ID", value: <Mono>{event.eventId}</Mono> },
    { name: "Credits", value: <span className="text-muted">Events charge nothing</span> },
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

function WhyLink({ denialId }: { denialId: string }) {
  const scope = useScope();
  return (
    <TextLink to="/projects/$projectId/$environment/denials/$denialId" params={{ ...scope, denialId }}>
      See why
    </TextLink>
  );
}

/** Rejected reuses of the key, compared with the original request. */
export function KeyRefusals({ history }: { history: KeyHistory }) {
  const refused = history.uses.filter((use) => use.refused !== null);
  return refused.map((use) => (
    <Card
      key={use.id}
      flush
      title="Rejected: key already used for another request"
      note={
        <>
          <Time at={use.recordedAt} as="exact" />, status 409. Nothing was charged or recorded.
        </>
      }
    >
      <SideBySide label={`Differences at ${use.recordedAt}`} lines={compareReuse(history, use)} />
    </Card>
  ));
}

function SideBySide({ label, lines }: { label: string; lines: readonly Compared[] }) {
  if (lines.length === 0) {
    return <p className="px-4 py-3 text-muted">The original request is outside your history window.</p>;
  }
  return (
    <table aria-label={label} className="w-full table-fixed border-collapse">
      <thead>
        <tr className="border-b border-line text-left text-caption text-muted">
          <th scope="col" className="h-9 w-1/4 px-4 font-medium">
            Field
          </th>
          <th scope="col" className="h-9 px-4 font-medium">
            Original request
          </th>
          <th scope="col" className="h-9 px-4 font-medium">
            Rejected request
          </th>
        </tr>
      </thead>
      <tbody>
        {lines.map(({ field, first, refused, differs }) => (
          <tr
            key={field}
            className={classNames("border-b border-line last:border-b-0", differs && "bg-warn-soft")}
          >
            <th scope="row" className="h-10 px-4 py-1.5 text-left font-normal">
              <span className="flex flex-wrap items-center gap-x-2">
                <span className="font-mono text-caption">{field}</span>
                {differs && <Badge tone="warn">Differs</Badge>}
              </span>
            </th>
            <Value text={first} isStrong={false} />
            <Value text={refused} isStrong={differs} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({ text, isStrong }: { text: string | null; isStrong: boolean }) {
  return (
    <td
      className={classNames(
        "px-4 py-1.5 wrap-anywhere",
        text === null ? "text-muted" : "font-mono text-caption",
        isStrong && "font-semibold",
      )}
    >
      {text ?? "none"}
    </td>
  );
}
