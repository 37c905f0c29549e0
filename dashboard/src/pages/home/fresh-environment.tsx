import { useQuery } from "@tanstack/react-query";
import type { Place } from "../../api/answer.ts";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { countOf } from "../../words/numbers.ts";
import { planCountQuery } from "./queries.ts";
import { Step, Steps } from "./steps.tsx";

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
