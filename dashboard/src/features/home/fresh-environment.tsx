import { useQuery } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { Children, type ReactNode } from "react";
import type { Place } from "../../api/answer.ts";
import { countOf } from "../../format/numbers.ts";
import { useMayActAs, usePlace } from "../../frame/use-here.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Card } from "../../ui/page.tsx";
import { planCountQuery } from "./queries.ts";

/** Nothing ever came: instead of empty charts, the way to the first request. */
export function FreshEnvironment() {
  const place = usePlace();
  const isLive = place.environment === "live";
  return (
    <Card
      title={isLive ? "Nothing has arrived in LIVE yet" : "Nothing has arrived in test yet"}
      note={isLive ? "What you did in test stays there. Three steps take it over." : "Three steps from here."}
    >
      <Steps>
        {isLive ? <Promote place={place} /> : <FirstEvent place={place} isFirst />}
        {isLive ? <FirstEvent place={place} isFirst={false} /> : <Catalog place={place} />}
        <Step title="Assign plans">
          <p>
            On a customer’s page, or from the webhooks of your billing system. What your customers then use
            shows here.
          </p>
          <ButtonLink to="/projects/$projectId/$environment/customers" params={place}>
            Customers
          </ButtonLink>
        </Step>
      </Steps>
    </Card>
  );
}

function FirstEvent({ place, isFirst }: { place: Place; isFirst: boolean }) {
  return (
    <Step title="Send the first event">
      <p>
        With a {place.environment} key, from a terminal or your backend. It needs no catalog and charges
        nothing.
      </p>
      <ButtonLink
        to="/projects/$projectId/$environment/first-event"
        params={place}
        tone={isFirst ? "primary" : "plain"}
      >
        Send the first event
      </ButtonLink>
    </Step>
  );
}

function Catalog({ place }: { place: Place }) {
  const { data: plans } = useQuery(planCountQuery(place));
  return (
    <Step title="Say what you sell" isDone={plans !== undefined && plans > 0}>
      <p>
        {plans === undefined || plans === 0
          ? "Features with their cost in credits, and plans that include them."
          : `The catalog has ${countOf(plans, "plan")}. Charges work at once.`}
      </p>
      <ButtonLink to="/projects/$projectId/$environment/features" params={place}>
        Features
      </ButtonLink>
      <ButtonLink to="/projects/$projectId/$environment/plans" params={place}>
        Plans
      </ButtonLink>
    </Step>
  );
}

/** Live begins empty, and gets its catalog from test. */
function Promote({ place }: { place: Place }) {
  const mayPromote = useMayActAs("admin");
  const { data: live } = useQuery(planCountQuery(place));
  const { data: test } = useQuery(planCountQuery({ ...place, environment: "test" }));
  const isDone = live !== undefined && live > 0;
  return (
    <Step title="Bring the catalog over" isDone={isDone}>
      <p>
        {isDone
          ? `LIVE has ${countOf(live, "plan")}.`
          : test === undefined || test === 0
            ? "LIVE sells nothing yet, nor does test. Make the catalog there and try it out first."
            : `LIVE sells nothing yet. Test has ${countOf(test, "plan")}; you see every change before it is made.`}
      </p>
      {mayPromote && (
        <ButtonLink
          to="/projects/$projectId/$environment/promote"
          params={place}
          tone={isDone ? "plain" : "primary"}
        >
          Compare test with LIVE
        </ButtonLink>
      )}
    </Step>
  );
}

/** What to do, in order. */
function Steps({ children }: { children: ReactNode }) {
  return (
    <ol className="flex flex-col gap-6">
      {Children.map(children, (step, index) => (
        <li className="flex gap-3">
          <span
            aria-hidden
            className="flex size-6 shrink-0 items-center justify-center rounded-full bg-sunken text-caption font-semibold text-muted"
          >
            {index + 1}
          </span>
          {step}
        </li>
      ))}
    </ol>
  );
}

/** Its text first, then the buttons. */
function Step({ title, isDone = false, children }: { title: string; isDone?: boolean; children: ReactNode }) {
  const [text, ...buttons] = Children.toArray(children);
  return (
    <div className="min-w-0 flex-1">
      <h3 className="flex h-6 items-center gap-1.5 text-form font-medium">
        {title}
        {isDone && <Check className="size-4 text-good" aria-label="done" />}
      </h3>
      <div className="text-muted">{text}</div>
      <div className="mt-2 flex flex-wrap gap-2">{buttons}</div>
    </div>
  );
}
