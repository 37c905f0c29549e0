import type { ReactNode } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { Card } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Details } from "../../ui/details.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { Time } from "../../ui/time.tsx";
import { countOf, formatCount } from "../../words/numbers.ts";
import type { Denial } from "./queries.ts";

/** What was asked, and for whom. */
export function DenialRequest({ denial }: { denial: Denial }) {
  const { plan, resetsAt, limit, metadata } = denial;
  const items: { name: string; value: ReactNode }[] = [
    { name: "Customer", value: <Customer denial={denial} /> },
    { name: "Feature", value: <Mono>{denial.feature}</Mono> },
    { name: "Quantity", value: formatCount(denial.quantity) },
    { name: "Costs", value: countOf(denial.creditsRequired, "credit") },
    {
      name: "Balance",
      value: `${formatCount(denial.balance)}${denial.pool === "credits" ? "" : ` in ${denial.pool}`}`,
    },
    ...(resetsAt === null ? [] : [{ name: "Credits reset", value: <Time at={resetsAt} /> }]),
    ...(limit === null
      ? []
      : [
          {
            name: "Limit",
            value: (
              <>
                {formatCount(limit.used)} of {formatCount(limit.quantity)} used
                {limit.resetsAt !== null && (
                  <>
                    , resets <Time at={limit.resetsAt} />
                  </>
                )}
              </>
            ),
          },
        ]),
    { name: "Plan", value: plan === null ? "None" : <Plan plan={plan} /> },
    { name: "Key", value: <Key idempotencyKey={denial.idempotencyKey} /> },
  ];
  return (
    <Card title="The request">
      <div className="flex flex-col gap-4">
        <Details items={items} />
        {metadata !== null && <CodeBlock label="the metadata" code={JSON.stringify(metadata, null, 2)} />}
      </div>
    </Card>
  );
}

function Customer({ denial: { customerId } }: { denial: Denial }) {
  const place = usePlace();
  if (customerId === null) return <span className="text-muted">Erased since</span>;
  return (
    <TextLink to="/projects/$projectId/$environment/customers/$customerId" params={{ ...place, customerId }}>
      {customerId}
    </TextLink>
  );
}

function Plan({ plan: { key, name, version } }: { plan: NonNullable<Denial["plan"]> }) {
  const place = usePlace();
  return (
    <>
      <TextLink to="/projects/$projectId/$environment/plans/$key" params={{ ...place, key }}>
        {name}
      </TextLink>
      , version {version}
    </>
  );
}

function Key({ idempotencyKey }: { idempotencyKey: string | null }) {
  const place = usePlace();
  if (idempotencyKey === null) return <span className="text-muted">Not kept any more</span>;
  return (
    <TextLink
      to="/projects/$projectId/$environment/keys/$idempotencyKey"
      params={{ ...place, idempotencyKey }}
    >
      <Mono>{idempotencyKey}</Mono>
    </TextLink>
  );
}

function Mono({ children }: { children: ReactNode }) {
  return <span className="font-mono text-caption wrap-anywhere">{children}</span>;
}
