import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Page } from "../../ui/page.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { ArrivedEvent } from "./arrived-event.tsx";
import { LiveKey, UnknownKey } from "./keys.tsx";
import { useNewSecret } from "./new-secret.ts";
import { NextSteps } from "./next-steps.tsx";
import { arrivalQuery } from "./queries.ts";
import { runtimeCurl } from "./runtime-curl.ts";

/** From a key to a row that turns into your event. It can be opened again at any time. */
export function FirstEventPage() {
  const place = usePlace();
  const secret = useNewSecret(place);
  // A key names one attempt: whoever comes back later makes another one.
  const [attempt] = useState(() => Math.random().toString(36).slice(2, 8));
  const { data: arrival } = useSuspenseQuery(arrivalQuery(place, "events"));
  const [before] = useState(arrival.arrived?.request.id);
  const curl = runtimeCurl("/v1/events", secret, {
    customerId: "customer_42",
    event: "tokens.generated",
    quantity: 1250,
    idempotencyKey: `first-event-${attempt}`,
  });
  return (
    <Page
      title={inEnvironment("Your first event", place.environment)}
      note="An event records usage. It charges nothing, and needs no plan and no catalog."
      actions={
        <ButtonLink to="/projects/$projectId/$environment" params={place}>
          {arrival.arrived === null ? "Later" : "Go to home"}
        </ButtonLink>
      }
    >
      <Card title="1. Send it" note="From a terminal or your backend, never from a browser.">
        <div className="flex flex-col gap-4">
          <CodeBlock label="the event as curl" code={curl} />
          {secret === null ? (
            <UnknownKey />
          ) : (
            <p className="text-muted">
              The key in it is shown this once, until you reload or log out. Keep it where your backend keeps
              its secrets.
            </p>
          )}
          {place.environment === "test" && <LiveKey projectId={place.projectId} />}
        </div>
      </Card>
      <Card title="2. See it arrive">
        <ArrivedEvent arrival={arrival} isNew={arrival.arrived?.request.id !== before} />
      </Card>
      {arrival.arrived !== null && (
        <NextSteps
          customerId={arrival.arrived.request.customerId ?? "customer_42"}
          attempt={attempt}
          secret={secret}
        />
      )}
    </Page>
  );
}
