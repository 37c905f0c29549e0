import { Send } from "lucide-react";
import type { ReactNode } from "react";
import { nameNotice, TEST_TYPE } from "../../format/notices.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { CustomerLink, NamedCustomer } from "../../frame/links.tsx";
import { NoticeText } from "../../frame/notice-text.tsx";
import { Badge, type BadgeTone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CodeBlock, CopyButton, Json } from "../../ui/code-block.tsx";
import { Details } from "../../ui/page.tsx";
import { type Column, csvColumn } from "../../ui/table.tsx";
import { Mono, Muted } from "../../ui/text.tsx";
import { Time } from "../../ui/time.tsx";
import type { Delivery } from "./queries.ts";
import { bodyOf } from "./webhook.ts";

export const STATES = {
  pending: { tone: "accent", name: "Pending" },
  delivered: { tone: "good", name: "Delivered" },
  failed: { tone: "bad", name: "Failed" },
} as const satisfies Record<Delivery["state"], { tone: BadgeTone; name: string }>;

/** Opens the dialog that sends a delivery again. Null if the user's role does not allow it. */
export type OnRepeat = ((delivery: Delivery) => void) | null;

export function columnsOf(textOf: (delivery: Delivery) => string, onRepeat: OnRepeat): Column<Delivery>[] {
  return [
    {
      name: "Time",
      hidesBelow: "md",
      csv: ({ recordedAt }) => recordedAt,
      cell: ({ recordedAt }) => <Time at={recordedAt} as="second" />,
    },
    {
      name: "Notice",
      isWide: true,
      csv: ({ type }) => type,
      cell: (delivery) => (
        <>
          <span className="font-medium">{nameNotice(delivery.type)}</span>
          <div className="text-caption text-muted">{textOf(delivery)}</div>
          <div className="text-caption text-muted md:hidden">
            {delivery.customerId !== null && (
              <div>
                <CustomerLink customerId={delivery.customerId} name={delivery.customerName} />
              </div>
            )}
            <Time at={delivery.recordedAt} as="second" />
          </div>
        </>
      ),
    },
    csvColumn("Details", textOf),
    {
      name: "Customer",
      hidesBelow: "md",
      csv: ({ customerId, customerName }) => customerName ?? customerId,
      cell: ({ type, customerId, customerName }) =>
        customerId === null ? (
          <Muted>{type === TEST_TYPE ? undefined : "Erased"}</Muted>
        ) : (
          <CustomerLink customerId={customerId} name={customerName} width="max-w-44" />
        ),
    },
    csvColumn("Customer ID", ({ customerId }) => customerId),
    {
      name: "State",
      csv: ({ state }) => STATES[state].name,
      cell: ({ state }) => <Badge tone={STATES[state].tone}>{STATES[state].name}</Badge>,
    },
    {
      name: "Response",
      hidesBelow: "md",
      csv: ({ status, answer }) => status ?? answer,
      cell: (delivery) => <Response delivery={delivery} />,
    },
    {
      name: "Attempts",
      isNumber: true,
      hidesBelow: "xl",
      csv: ({ attempts }) => attempts,
      cell: ({ attempts }) => formatCount(attempts),
    },
    {
      name: "Next attempt",
      hidesBelow: "xl",
      csv: ({ nextAttemptAt }) => nextAttemptAt,
      cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? <Muted /> : <NextAttempt at={nextAttemptAt} />),
    },
    {
      isShown: onRepeat !== null,
      name: "Actions",
      isActions: true,
      hidesBelow: "xl",
      cell: (delivery) => <SendAgain delivery={delivery} onRepeat={onRepeat} />,
    },
  ];
}

/** The HTTP status, or why there was no response. */
function Response({ delivery: { status, answer } }: { delivery: Delivery }) {
  if (status !== null) return <span className="tabular-nums">{status}</span>;
  if (answer === null) return <Muted />;
  return <span className="block w-40 text-caption wrap-anywhere whitespace-normal">{answer}</span>;
}

function NextAttempt({ at }: { at: string }) {
  return Date.parse(at) <= Date.now() ? "Due" : <Time at={at} as="ago" />;
}

function SendAgain({ delivery, onRepeat }: { delivery: Delivery; onRepeat: OnRepeat }) {
  return (
    onRepeat !== null && (
      <span className="-my-1.5 -mr-2 inline-flex">
        <Button tone="quiet" onClick={() => onRepeat(delivery)}>
          Send again<span className="sr-only"> {delivery.noticeId}</span>
        </Button>
      </span>
    )
  );
}

export function DeliveryDetails({ delivery, onRepeat }: { delivery: Delivery; onRepeat: OnRepeat }) {
  const { noticeId, type, customerId, customerName, effectiveAt, recordedAt, state, attempts } = delivery;
  const { lastAttemptAt, nextAttemptAt, status, answer } = delivery;
  return (
    <div className="flex flex-col gap-4">
      <Details
        items={[
          {
            name: "Notice ID",
            value: (
              <span className="-my-1.5 flex items-center gap-1">
                <Mono>{noticeId}</Mono>
                <CopyButton text={noticeId} label="Copy notice ID" />
              </span>
            ),
          },
          ...(type === TEST_TYPE
            ? []
            : [
                {
                  name: "Customer",
                  value: <NamedCustomer customerId={customerId} name={customerName} missing="Erased" />,
                },
                { name: "Notice", value: <NoticeText notice={delivery} /> },
              ]),
          { name: "Occurred", value: <Time at={effectiveAt} as="exact" /> },
          { name: "Recorded", value: <Time at={recordedAt} as="exact" /> },
          {
            name: "Last attempt",
            value:
              lastAttemptAt === null ? (
                "None yet"
              ) : (
                <>
                  <Time at={lastAttemptAt} as="exact" />, {countOf(attempts, "attempt")}
                </>
              ),
          },
          ...(state === "pending" && nextAttemptAt !== null
            ? [{ name: "Next attempt", value: <NextAttempt at={nextAttemptAt} /> }]
            : []),
        ]}
      />
      <Section title="Body">
        <CodeBlock label="the body" code={bodyOf(delivery)} wraps />
      </Section>
      {lastAttemptAt !== null && (
        <Section title={status === null ? "No response" : `Response ${status}`}>
          {answer === null || answer === "" ? (
            <p className="text-muted">The body is empty.</p>
          ) : (
            <CodeBlock label="the response" code={answer} wraps />
          )}
        </Section>
      )}
      {/* In a narrow window, the table has no room for the button. */}
      {onRepeat !== null && (
        <div className="xl:hidden">
          <Button icon={Send} onClick={() => onRepeat(delivery)}>
            Send again
          </Button>
        </div>
      )}
      <Json label="the delivery" value={delivery} />
    </div>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1">
      <p className="text-form font-medium">{title}</p>
      {children}
    </div>
  );
}
