import { useSuspenseQuery } from "@tanstack/react-query";
import { Coins, Layers, UserRound } from "lucide-react";
import type { ReactNode } from "react";
import { CustomerLink, KeyLink } from "../../frame/links.tsx";
import { useScope } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Card } from "../../ui/page.tsx";
import { FirstCharge } from "./first-charge.tsx";
import { arrivalQuery, featuresQuery } from "./queries.ts";

/** Next steps after the first event. */
export function NextSteps({
  customerId,
  attempt,
  secret,
}: {
  customerId: string;
  attempt: string;
  secret: string | null;
}) {
  const scope = useScope();
  const { data: features } = useSuspenseQuery(featuresQuery(scope));
  const included = features.filter(({ usedBy }) => usedBy.length > 0);
  const feature = included.find(({ cost }) => cost.credits > 0) ?? included[0];
  return (
    <Card title="3. Next steps">
      <ol className="flex flex-col gap-6">
        <Step icon={UserRound} title="Open the customer">
          <p>
            If <CustomerLink customerId={customerId} /> did not exist, the event created it. See all{" "}
            <TextLink to="/projects/$projectId/$environment/customers" params={scope}>
              customers
            </TextLink>
            .
          </p>
        </Step>
        <Step icon={Layers} title="Assign a plan">
          {feature === undefined ? (
            <p>
              No plan includes a feature yet. Create a{" "}
              <TextLink to="/projects/$projectId/$environment/features" params={scope}>
                feature
              </TextLink>{" "}
              and add it to a{" "}
              <TextLink to="/projects/$projectId/$environment/plans" params={scope}>
                plan
              </TextLink>
              .
            </p>
          ) : (
            <p>
              Assign a plan on the customer's page. Without an assigned plan, the default plan applies, if
              there is one.
            </p>
          )}
        </Step>
        {feature !== undefined && (
          <Step icon={Coins} title="Send a charge">
            <p>Purser allows or denies the request. Only allowed requests are charged.</p>
            <CodeBlock
              label="the charge as curl"
              code={runtimeCurl("/v1/consume", secret, {
                customerId,
                feature: feature.key,
                quantity: 1,
                idempotencyKey: `first-charge-${attempt}`,
              })}
            />
            <FirstCharge customerId={customerId} feature={feature} />
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

/** The result of the charge sent from this page. */
function ArrivedCharge({ idempotencyKey }: { idempotencyKey: string }) {
  const scope = useScope();
  const { data } = useSuspenseQuery(arrivalQuery(scope, "consume"));
  const request = data.arrived?.request;
  const isOurs = request?.idempotencyKey === idempotencyKey;
  return (
    <p role="status">
      {isOurs && (
        <>
          <Badge tone={request.reason === null ? "good" : "bad"}>
            {request.reason === null ? "Allowed" : "Denied"}
          </Badge>{" "}
          <KeyLink idempotencyKey={idempotencyKey}>Open the request</KeyLink>
        </>
      )}
    </p>
  );
}

/** Placeholder for an API key. */
export const KEY_VARIABLE = "$PURSER_KEY";

/** A runtime API call as curl, to the origin of this page. */
export function runtimeCurl(
  path: "/v1/events" | "/v1/consume",
  secret: string | null,
  body: Record<string, string | number>,
): string {
  return [
    `curl ${window.location.origin}${path}`,
    `-H "Authorization: Bearer ${secret ?? KEY_VARIABLE}"`,
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`,
  ].join(" \\\n  ");
}
