import { useQuery } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { Children, type ReactNode } from "react";
import type { Scope } from "../../api/answer.ts";
import { countOf } from "../../format/numbers.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Card } from "../../ui/page.tsx";
import { planCountQuery } from "./queries.ts";

/** Onboarding steps, shown instead of empty charts. */
export function Onboarding() {
  const scope = useScope();
  const isLive = scope.environment === "live";
  return (
    <Card title={isLive ? "No data in Live yet" : "No data in Test yet"} note="Three steps to get started.">
      <Steps>
        {isLive ? <Promote scope={scope} /> : <FirstEvent scope={scope} isFirst />}
        {isLive ? <FirstEvent scope={scope} isFirst={false} /> : <Catalog scope={scope} />}
        <Step title="Assign plans">
          <p>Assign plans on a customer's page or from your billing system's webhooks.</p>
          <ButtonLink to="/projects/$projectId/$environment/customers" params={scope}>
            Go to Customers
          </ButtonLink>
        </Step>
      </Steps>
    </Card>
  );
}

function FirstEvent({ scope, isFirst }: { scope: Scope; isFirst: boolean }) {
  return (
    <Step title="Send your first event">
      <p>
        Use a {scope.environment} key from a terminal or your backend. Events are free: they never charge the
        customer.
      </p>
      <ButtonLink
        to="/projects/$projectId/$environment/first-event"
        params={scope}
        tone={isFirst ? "primary" : "plain"}
      >
        Send your first event
      </ButtonLink>
    </Step>
  );
}

function Catalog({ scope }: { scope: Scope }) {
  const { data: plans } = useQuery(planCountQuery(scope));
  return (
    <Step title="Create the catalog" isDone={plans !== undefined && plans > 0}>
      <p>
        {plans === undefined || plans === 0
          ? "Create features with a cost, and plans that include them."
          : `The catalog has ${countOf(plans, "plan")}.`}
      </p>
      <ButtonLink to="/projects/$projectId/$environment/features" params={scope}>
        Go to Features
      </ButtonLink>
      <ButtonLink to="/projects/$projectId/$environment/plans" params={scope}>
        Go to Plans
      </ButtonLink>
    </Step>
  );
}

/** Live starts empty and gets its catalog from Test. */
function Promote({ scope }: { scope: Scope }) {
  const mayPromote = useMayActAs("admin");
  const { data: live } = useQuery(planCountQuery(scope));
  const { data: test } = useQuery(planCountQuery({ ...scope, environment: "test" }));
  const isDone = live !== undefined && live > 0;
  return (
    <Step title="Promote the catalog" isDone={isDone}>
      <p>
        {isDone
          ? `Live has ${countOf(live, "plan")}.`
          : test === undefined || test === 0
            ? "Live and Test have no plans yet. Create the catalog in Test first."
            : `Live has no plans yet. Test has ${countOf(test, "plan")}.`}
      </p>
      {mayPromote && (
        <ButtonLink
          to="/projects/$projectId/$environment/promote"
          params={scope}
          tone={isDone ? "plain" : "primary"}
        >
          Compare Test with Live
        </ButtonLink>
      )}
    </Step>
  );
}

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

/** The first child is the text, the others are buttons. */
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
