import type { ReactNode } from "react";
import { countOf, formatCount } from "../../format/numbers.ts";
import { describeReason } from "../../format/request-sentences.ts";
import { CustomerLink } from "../../frame/links.tsx";
import { useScope } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Card, Details } from "../../ui/page.tsx";
import { Mono } from "../../ui/text.tsx";
import { Time } from "../../ui/time.tsx";
import { type Compared, compareReuse } from "./compare-reuse.ts";
import type { KeyHistory } from "./queries.ts";

type Item = { name: string; value: ReactNode };

/** The charge, denial or event behind an idempotency key. */
export function KeyEffect({ history }: { history: KeyHistory }) {
  const { charge, denial, event } = history;
  const metadata = (charge ?? denial ?? event)?.metadata ?? null;
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
            ...chargeItems(history),
            ...denialItems(history),
            ...eventItems(history),
          ]}
        />
        {metadata !== null && <CodeBlock label="the metadata" code={JSON.stringify(metadata, null, 2)} />}
      </div>
    </Card>
  );
}

function chargeItems({ charge, customerId }: KeyHistory): Item[] {
  if (charge === null) return [];
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

function denialItems({ denial }: KeyHistory): Item[] {
  if (denial === null) return [];
  return [
    { name: "Feature", value: <Mono>{denial.feature}</Mono> },
    { name: "Quantity", value: formatCount(denial.quantity) },
    { name: "Reason", value: describeReason(denial.reason ?? "") },
    { name: "Required", value: countOf(denial.creditsRequired, "credit") },
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
