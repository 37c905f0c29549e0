import { useSuspenseQuery } from "@tanstack/react-query";
import { Coins, Layers, UserRound } from "lucide-react";
import type { ReactNode } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { Card } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { ArrivedCharge } from "./arrived-charge.tsx";
import { featuresQuery } from "./queries.ts";
import { runtimeCurl } from "./runtime-curl.ts";

/** Where an event leads: a customer, its plan, a charge. */
export function NextSteps({
  customerId,
  attempt,
  secret,
}: {
  customerId: string;
  attempt: string;
  secret: string | null;
}) {
  const place = usePlace();
  const { data: features } = useSuspenseQuery(featuresQuery(place));
  const included = features.filter(({ usedBy }) => usedBy.length > 0);
  const feature = included.find(({ cost }) => cost.credits > 0) ?? included[0];
  return (
    <Card title="3. Go on">
      <ol className="flex flex-col gap-6">
        <Step icon={UserRound} title="Look at the customer">
          <p>
            The event is about{" "}
            <TextLink
              to="/projects/$projectId/$environment/customers/$customerId"
              params={{ ...place, customerId }}
            >
              {customerId}
            </TextLink>
            , and has made it if nobody knew it. Give it a name and credits there, or make others under{" "}
            <TextLink to="/projects/$projectId/$environment/customers" params={place}>
              Customers
            </TextLink>
            .
          </p>
        </Step>
        <Step icon={Layers} title="Assign a plan">
          {feature === undefined ? (
            <p>
              There is none to assign yet. Define a{" "}
              <TextLink to="/projects/$projectId/$environment/features" params={place}>
                feature
              </TextLink>{" "}
              and put it into a{" "}
              <TextLink to="/projects/$projectId/$environment/plans" params={place}>
                plan
              </TextLink>
              .
            </p>
          ) : (
            <p>
              On the customer’s page: a plan says what it may do, and gives it credits each period. Whoever
              has none is on the default plan, if there is one.
            </p>
          )}
        </Step>
        {feature !== undefined && (
          <Step icon={Coins} title="Make a charge">
            <p>
              It answers allowed or denied, and takes credits only when it is allowed
              {place.environment === "live" ? "; in LIVE they are real." : "."}
            </p>
            <CodeBlock
              label="the charge as curl"
              code={runtimeCurl("/v1/consume", secret, {
                customerId,
                feature: feature.key,
                quantity: 1,
                idempotencyKey: `first-charge-${attempt}`,
              })}
            />
            <ArrivedCharge idempotencyKey={`first-charge-${attempt}`} />
          </Step>
        )}
      </ol>
    </Card>
  );
}

function Step({ icon: Icon, title, children }: { icon: typeof Coins; title: string; children: ReactNode }) {
  return (
    <li className="flex gap-3">
      <Icon className="mt-0.5 size-4 shrink-0 text-muted" aria-hidden />
      <div className="flex min-w-0 flex-1 flex-col gap-2">
        <div>
          <h3 className="text-form font-medium">{title}</h3>
        </div>
        <div className="flex flex-col gap-2 text-muted">{children}</div>
      </div>
    </li>
  );
}
