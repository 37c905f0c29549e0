import { useQuery } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { Children, type ReactNode, useEffect, useState } from "react";
import type { Scope } from "../../api/answer.ts";
import { ENVIRONMENT_NAMES } from "../../format/environments.ts";
import { countOf } from "../../format/numbers.ts";
import { useMayActInProject, useScope, useSession } from "../../frame/use-scope.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { Card } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { FirstCharge } from "../welcome/first-charge.tsx";
import { type Setup, setupQuery } from "./setup.ts";

/** Steps from an empty environment to the first charge. A step is done when the object that it creates exists. */
export function Onboarding({ isFresh, onDismiss }: { isFresh: boolean; onDismiss: () => void }) {
  const scope = useScope();
  const { data: setup, error, isFetching, refetch } = useQuery(setupQuery(scope, useSession()));
  if (setup === undefined) {
    if (error !== null) return <ProblemCallout error={error} isRetrying={isFetching} onRetry={refetch} />;
    // If there is data, the overview is shown below and must not move.
    return isFresh ? <SkeletonRows rows={6} /> : null;
  }
  const steps = stepsOf(setup, scope);
  const name = ENVIRONMENT_NAMES[scope.environment];
  return (
    <Card
      title={isFresh ? `No data in ${name} yet` : `Get started in ${name}`}
      note={`${steps.filter(Boolean).length} of ${steps.length} steps done.`}
      actions={<Button onClick={onDismiss}>Dismiss</Button>}
    >
      <ol className="flex flex-col gap-6">
        {scope.environment === "live" ? (
          <Promote setup={setup} />
        ) : (
          <>
            <Features setup={setup} />
            <Plans setup={setup} />
          </>
        )}
        <ApiKeys setup={setup} />
        <FirstCustomer setup={setup} />
        <FirstChargeStep setup={setup} onCharged={() => void refetch()} />
      </ol>
    </Card>
  );
}

/** Whether each step is done. In Live, features and plans are one step, because both come from Test. */
function stepsOf(setup: Setup, { environment }: Scope): boolean[] {
  const { features, plans, hasApiKey, customerId, hasCharge } = setup;
  const catalog = environment === "live" ? [plans > 0] : [features > 0, plans > 0];
  return [...catalog, hasApiKey, customerId !== null, hasCharge];
}

const nameOf = ({ projectId, environment }: Scope): string => `purser.onboarding.${projectId}/${environment}`;

/**
 * Whether the steps were dismissed or finished, remembered in this browser for each environment. Steps that are finished while the page
 * is open are shown until the next visit.
 */
export function useOnboarding(scope: Scope): { isOver: boolean; dismiss: () => void } {
  const [isRemembered, setRemembered] = useState(() => localStorage.getItem(nameOf(scope)) !== null);
  const [isOpen, setOpen] = useState(false);
  const { data: setup } = useQuery({ ...setupQuery(scope, useSession()), enabled: !isRemembered });
  const isFinished = setup !== undefined && stepsOf(setup, scope).every(Boolean);
  if (setup !== undefined && !isFinished && !isOpen) setOpen(true);
  useEffect(() => {
    if (isFinished) localStorage.setItem(nameOf(scope), "finished");
  }, [isFinished, scope]);
  return {
    isOver: isRemembered || (isFinished && !isOpen),
    dismiss: () => {
      localStorage.setItem(nameOf(scope), "dismissed");
      setRemembered(true);
    },
  };
}

type StepProps = { setup: Setup };

function Features({ setup: { features } }: StepProps) {
  const scope = useScope();
  return (
    <Step title="Create a feature" isDone={features > 0}>
      <p>
        {features > 0
          ? `The catalog has ${countOf(features, "feature")}.`
          : "A feature is something customers pay for. Each feature has a cost in credits."}
      </p>
      <ButtonLink to="/projects/$projectId/$environment/features" params={scope}>
        Go to Features
      </ButtonLink>
    </Step>
  );
}

function Plans({ setup: { plans } }: StepProps) {
  const scope = useScope();
  return (
    <Step title="Create a plan" isDone={plans > 0}>
      <p>
        {plans > 0
          ? `The catalog has ${countOf(plans, "plan")}.`
          : "A plan includes features and credits. A default plan applies to new customers."}
      </p>
      <ButtonLink to="/projects/$projectId/$environment/plans" params={scope}>
        Go to Plans
      </ButtonLink>
    </Step>
  );
}

/** Live starts empty and gets its catalog from Test. */
function Promote({ setup: { plans, testPlans } }: StepProps) {
  const scope = useScope();
  const mayPromote = useMayActInProject("admin");
  const isDone = plans > 0;
  return (
    <Step title="Promote the catalog" isDone={isDone}>
      <p>
        {isDone
          ? `Live has ${countOf(plans, "plan")}.`
          : testPlans === null
            ? "Live has no plans yet. Someone with access to Test can promote the catalog."
            : testPlans === 0
              ? "Live and Test have no plans yet. Create the catalog in Test first."
              : `Live has no plans yet. Test has ${countOf(testPlans, "plan")}.`}
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

function ApiKeys({ setup: { hasApiKey } }: StepProps) {
  const scope = useScope();
  return (
    <Step title="Create an API key" isDone={hasApiKey}>
      <p>
        {hasApiKey ? "Your backend can send requests." : "Your backend sends the key with every request."}
      </p>
      <ButtonLink to="/projects/$projectId/$environment/api-keys" params={scope}>
        Go to API keys
      </ButtonLink>
    </Step>
  );
}

function FirstCustomer({ setup: { customerId } }: StepProps) {
  const scope = useScope();
  return (
    <Step title="Add a customer" isDone={customerId !== null}>
      <p>
        {customerId === null
          ? "The first event or charge creates the customer. Events are free: they never charge the customer."
          : "Assign plans on a customer's page or from your billing system's webhooks."}
      </p>
      <ButtonLink to="/projects/$projectId/$environment/first-event" params={scope}>
        Send your first event
      </ButtonLink>
      <ButtonLink to="/projects/$projectId/$environment/customers" params={scope}>
        Go to Customers
      </ButtonLink>
    </Step>
  );
}

function FirstChargeStep({ setup, onCharged }: StepProps & { onCharged: () => void }) {
  const { environment } = useScope();
  const { hasCharge, chargeable, customerId } = setup;
  // Frozen, so that the result stays visible after the charge.
  const [isFirst] = useState(!hasCharge);
  return (
    <Step title="Make the first charge" isDone={hasCharge}>
      <p>
        {hasCharge
          ? "Customers are being charged."
          : chargeable === null
            ? "Requires a feature that is included in a plan."
            : environment === "live"
              ? "Your backend makes the first charge. Test requests are not available in Live."
              : "Purser allows or denies the request. Only allowed requests are charged."}
      </p>
      {chargeable !== null && environment === "test" && isFirst && (
        <FirstCharge customerId={customerId ?? "customer_42"} feature={chargeable} onCharged={onCharged} />
      )}
    </Step>
  );
}

/** The first child is the text, the others are buttons. */
function Step({ title, isDone, children }: { title: string; isDone: boolean; children: ReactNode }) {
  const [text, ...buttons] = Children.toArray(children);
  return (
    <li className="flex gap-3">
      <span
        aria-hidden
        className={
          isDone
            ? "flex size-6 shrink-0 items-center justify-center rounded-full bg-good-soft text-good"
            : "size-6 shrink-0 rounded-full border-2 border-dashed border-line-strong"
        }
      >
        {isDone && <Check className="size-4" />}
      </span>
      <div className="min-w-0 flex-1">
        <h3 className="flex h-6 items-center gap-1.5 text-form font-medium">
          {title}
          {isDone && <span className="sr-only"> (done)</span>}
        </h3>
        <div className="text-muted">{text}</div>
        {buttons.length > 0 && <div className="mt-2 flex flex-wrap gap-2">{buttons}</div>}
      </div>
    </li>
  );
}
