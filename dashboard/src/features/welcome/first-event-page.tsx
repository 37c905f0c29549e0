import { useSuspenseQuery } from "@tanstack/react-query";
import { CircleAlert, CircleCheck } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ENVIRONMENT_NAMES, inEnvironment } from "../../format/environments.ts";
import { formatCount } from "../../format/numbers.ts";
import { CustomerLink, KeyLink } from "../../frame/links.tsx";
import { useScope } from "../../frame/use-scope.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { NextSteps, runtimeCurl } from "./next-steps.tsx";
import { type Arrival, arrivalQuery } from "./queries.ts";
import { LiveKey, UnknownKey, useNewSecret } from "./secrets.tsx";

/** Guides the user to the first event and shows when it arrives. */
export function FirstEventPage() {
  const scope = useScope();
  const secret = useNewSecret(scope);
  // A new idempotency key for each visit.
  const [attempt] = useState(() => Math.random().toString(36).slice(2, 8));
  const { data: arrival } = useSuspenseQuery(arrivalQuery(scope, "events"));
  const [before] = useState(arrival.arrived?.request.id);
  const curl = runtimeCurl("/v1/events", secret, {
    customerId: "customer_42",
    event: "tokens.generated",
    quantity: 1250,
    idempotencyKey: `first-event-${attempt}`,
  });
  return (
    <Page
      title={inEnvironment("Your first event", scope.environment)}
      note="Events record usage. They don't require a plan or charge credits."
      actions={
        <ButtonLink to="/projects/$projectId/$environment" params={scope}>
          {arrival.arrived === null ? "Skip" : "Go to Home"}
        </ButtonLink>
      }
    >
      <Card title="1. Send an event" note="From a terminal or your backend, never from a browser.">
        <div className="flex flex-col gap-4">
          <CodeBlock label="the event as curl" code={curl} />
          {secret === null ? (
            <UnknownKey />
          ) : (
            <p className="text-muted">The API key is shown until you reload. Store it with your secrets.</p>
          )}
          {scope.environment === "test" && <LiveKey projectId={scope.projectId} />}
        </div>
      </Card>
      <Card title="2. Check that the event arrives">
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

/** Shows whether the event has arrived or was rejected. Announced to screen readers. */
function ArrivedEvent({
  arrival: { arrived, refused },
  isNew,
}: {
  arrival: Arrival;
  /** Whether the event arrived while the page was open. */
  isNew: boolean;
}) {
  return (
    <div role="status" className="flex flex-col gap-4">
      {arrived === null ? <Waiting /> : <Arrived arrived={arrived} isNew={isNew} />}
      {refused !== null && <Refused refused={refused} />}
    </div>
  );
}

function Waiting() {
  const { environment } = useScope();
  return (
    <Line icon={<span className="size-2.5 animate-pulse rounded-full bg-accent" aria-hidden />}>
      <p className="text-form font-medium">Waiting for the first event</p>
      <p className="text-muted">
        The event appears here within a few seconds. Environment: {ENVIRONMENT_NAMES[environment]}.
      </p>
    </Line>
  );
}

function Arrived({
  arrived: { request, event },
  isNew,
}: {
  arrived: NonNullable<Arrival["arrived"]>;
  isNew: boolean;
}) {
  const { customerId, idempotencyKey } = request;
  return (
    <Line icon={<CircleCheck className="size-5 text-good" aria-hidden />}>
      <p className="text-form font-medium">
        {request.isReplay
          ? "Replay: the event was recorded only once"
          : isNew
            ? "Your event has arrived"
            : "Latest event"}
      </p>
      {!isNew && <p className="text-muted">Send another event to see it here.</p>}
      <dl className="mt-2 flex flex-wrap gap-x-8 gap-y-3">
        <Fact name={event === null ? "Request" : "Event"}>
          <span className="font-mono">{event === null ? request.requestId : event.eventId}</span>
        </Fact>
        <Fact name="Customer">
          <CustomerLink customerId={customerId} missing="Unknown" />
        </Fact>
        <Fact name="Event key">
          <span className="font-mono">{request.event}</span>
          {event !== null && <span className="text-muted"> × {formatCount(event.quantity)}</span>}
        </Fact>
        <Fact name="Recorded">
          <Time at={event?.recordedAt ?? request.recordedAt} />
        </Fact>
        {idempotencyKey !== null && (
          <Fact name="Idempotency key">
            <KeyLink idempotencyKey={idempotencyKey}>
              <span className="font-mono">{idempotencyKey}</span>
            </KeyLink>
          </Fact>
        )}
      </dl>
    </Line>
  );
}

function Refused({ refused: { code, status, requestId } }: { refused: NonNullable<Arrival["refused"]> }) {
  return (
    <Line icon={<CircleAlert className="size-5 text-bad" aria-hidden />}>
      <p className="text-form font-medium">A request was rejected</p>
      <p className="text-muted">
        {status}
        {code !== null && (
          <>
            {" "}
            <a href={`/docs/errors/${code}`} className="font-mono text-accent hover:underline">
              {code}
            </a>
          </>
        )}
        , request <code className="font-mono">{requestId}</code>. Nothing was recorded. See the error in your
        terminal.
      </p>
    </Line>
  );
}

function Line({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <div className="flex gap-3">
      <span className="flex size-5 shrink-0 items-center justify-center">{icon}</span>
      <div className="min-w-0 flex-1">{children}</div>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-caption text-muted">{name}</dt>
      <dd className="wrap-anywhere">{children}</dd>
    </div>
  );
}
