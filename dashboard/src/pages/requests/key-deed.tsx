import type { ReactNode } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Details } from "../../ui/details.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { Time } from "../../ui/time.tsx";
import { countOf, formatCount } from "../../words/numbers.ts";
import { describeReason } from "../../words/reason-words.ts";
import type { KeyStory } from "./queries.ts";

type Item = { name: string; value: ReactNode };

/** The charge, denial or event that a key stands for. */
export function KeyDeed({ story }: { story: KeyStory }) {
  const { charge, denial, event } = story;
  const metadata = (charge ?? denial ?? event)?.metadata ?? null;
  return (
    <Card title="What it did">
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
            ...(story.recordedAt === null
              ? []
              : [{ name: "Time", value: <Time at={story.recordedAt} as="exact" /> }]),
            { name: "Called", value: <Mono>{`POST /v1/${story.endpoint}`}</Mono> },
            { name: "Customer", value: <Customer customerId={story.customerId} /> },
            ...chargeItems(story),
            ...denialItems(story),
            ...eventItems(story),
          ]}
        />
        {metadata !== null && <CodeBlock label="the metadata" code={JSON.stringify(metadata, null, 2)} />}
      </div>
    </Card>
  );
}

function chargeItems({ charge, customerId }: KeyStory): Item[] {
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
            value: `${formatCount(reversedQuantity)} of ${formatCount(quantity)}, ${countOf(reversedCredits, "credit")} given back`,
          },
        ]),
    { name: "Ledger entry", value: <LedgerLink customerId={customerId} consumeId={consumeId} /> },
  ];
}

function denialItems({ denial }: KeyStory): Item[] {
  if (denial === null) return [];
  return [
    { name: "Feature", value: <Mono>{denial.feature}</Mono> },
    { name: "Quantity", value: formatCount(denial.quantity) },
    { name: "Reason", value: describeReason(denial.reason ?? "") },
    { name: "Needed", value: countOf(denial.creditsRequired, "credit") },
    { name: "Had", value: countOf(denial.balance, "credit") },
    { name: "Explanation", value: <WhyLink denialId={denial.denialId} /> },
  ];
}

function eventItems({ event }: KeyStory): Item[] {
  if (event === null) return [];
  return [
    { name: "Event", value: <Mono>{event.event}</Mono> },
    { name: "Quantity", value: formatCount(event.quantity) },
    { name: "Happened", value: <Time at={event.occurredAt} as="exact" /> },
    { name: "Event id", value: <Mono>{event.eventId}</Mono> },
    { name: "Credits", value: <span className="text-muted">Usage events move none</span> },
  ];
}

function Customer({ customerId }: { customerId: string | null }) {
  const place = usePlace();
  if (customerId === null) return <span className="text-muted">Erased since</span>;
  return (
    <TextLink to="/projects/$projectId/$environment/customers/$customerId" params={{ ...place, customerId }}>
      {customerId}
    </TextLink>
  );
}

function LedgerLink({ customerId, consumeId }: { customerId: string | null; consumeId: string }) {
  const place = usePlace();
  if (customerId === null) return <Mono>{consumeId}</Mono>;
  return (
    <TextLink
      to="/projects/$projectId/$environment/customers/$customerId/ledger"
      params={{ ...place, customerId }}
      search={{ charge: consumeId }}
    >
      <Mono>{consumeId}</Mono>
    </TextLink>
  );
}

function WhyLink({ denialId }: { denialId: string }) {
  const place = usePlace();
  return (
    <TextLink to="/projects/$projectId/$environment/denials/$denialId" params={{ ...place, denialId }}>
      Why denied?
    </TextLink>
  );
}

function Mono({ children }: { children: ReactNode }) {
  return <span className="font-mono text-caption wrap-anywhere">{children}</span>;
}
