import { useSuspenseQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useForm, useWatch } from "react-hook-form";
import { ApiProblem } from "../../api/api-problem.ts";
import { plansQuery } from "../../api/catalog-lists.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { formatTime, readMoment } from "../../format/times.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { useClock } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import type { Customer } from "../customers/queries.ts";
import { type AssignmentBody, AssignmentPreview } from "./assignment-preview.tsx";
import { type AssignmentForm, EMPTY_ASSIGNMENT, hasPlan, isPast, PlanFields } from "./plan-fields.tsx";

export function AssignPlanDialog({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  const { customerId } = customer;
  const who = customer.name ?? customerId;
  const scope = useScope();
  const clock = useClock();
  const { data: plans } = useSuspenseQuery(plansQuery(scope));
  const { register, setValue, control, handleSubmit, formState } = useForm<AssignmentForm>({
    defaultValues: EMPTY_ASSIGNMENT,
  });
  const form = useWatch({ control, compute: (values: AssignmentForm) => values });
  const startsAt = readMoment(form.startsAt, clock);
  const body = readForm(form, { startsAt, endsAt: readMoment(form.endsAt, clock) });
  const isLater = body.startsAt !== undefined;
  const requestOf = (wanted: AssignmentBody) => ({
    params: { path: { ...scope, customerId } },
    body: wanted,
  });
  const assign = useWrite(
    "post",
    "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/plan",
    {
      onSuccess: async ({ outcome, customer: { plan, nextPlan } }) => {
        if (outcome === "changed") {
          if (nextPlan === null)
            notify(`Assigned ${plan?.name ?? "no plan"} to ${who}`, changeOf(customer, plan));
          else
            notify(`Scheduled ${nextPlan.name} for ${who}`, `Starts ${formatTime(nextPlan.startsAt, clock)}`);
          onClose();
        }
        await refresh("customers");
      },
      // A rejection can mean that the customer's plan has changed.
      onError: () => refresh("customers"),
    },
  );
  const chosen = plans.find(({ key }) => key === form.plan);
  const { error, variables: { body: asked } = { body } } = assign;
  const isAsked = isSameAssignment(asked, body);
  const isUnchanged = assign.isSuccess && assign.data.outcome === "unchanged" && isAsked;
  const isIncomplete =
    (form.ending === "at" && body.endsAt === undefined) ||
    (form.starting === "at" && (!isLater || isPast(startsAt)));
  return (
    <WriteDialog
      title={`Assign plan to ${who}`}
      write={assign}
      request={form.plan === "" ? null : requestOf(body)}
      action={`${isLater ? "Schedule" : "Assign"} ${chosen?.name ?? "plan"}`}
      closeName={isUnchanged ? "Close" : "Cancel"}
      isBusy={formState.isSubmitting || assign.isPending}
      isDisabled={chosen === undefined || isIncomplete}
      problem={
        <Refusal
          error={isAsked ? error : null}
          plan={chosen?.name ?? "The plan"}
          current={customer.plan}
          shorten={
            <Button
              onClick={() => void assign.mutateAsync(requestOf({ ...body, shorten: true })).catch(() => {})}
              isBusy={assign.isPending}
            >
              End earlier
            </Button>
          }
        />
      }
      onSubmit={handleSubmit(async () => {
        await assign.mutateAsync(requestOf(body)).catch(() => {});
      })}
      onClose={onClose}
    >
      <PlanFields register={register} setValue={setValue} form={form} plans={plans} customer={customer} />
      {chosen !== undefined && !isUnchanged && !isIncomplete && (
        <AssignmentPreview
          customer={customer}
          plan={chosen}
          startsAt={timeOf(body.startsAt, customer) ?? null}
          endsAt={timeOf(body.endsAt, customer)}
        />
      )}
      {isUnchanged && (
        <div role="status">
          <Callout
            tone="good"
            title={
              hasPlan(customer, form.plan)
                ? `Nothing changed: ${who} already has ${chosen?.name}`
                : `Nothing changed: ${chosen?.name} is already scheduled`
            }
          >
            No credits were added or removed.
          </Callout>
        </div>
      )}
    </WriteDialog>
  );
}

/** The request body. Without `startsAt`, the plan starts now. Without `endsAt`, the current end date is kept. */
function readForm(
  { plan, starting, ending }: AssignmentForm,
  { startsAt, endsAt }: { readonly startsAt: string | null; readonly endsAt: string | null },
): AssignmentBody {
  const start = starting === "at" ? startsAt : starting === "period_end" ? starting : null;
  const end = ending === "at" ? (endsAt ?? undefined) : ending === "none" ? null : endingOf(ending);
  return {
    plan,
    ...(start === null ? {} : { startsAt: start }),
    ...(end === undefined ? {} : { endsAt: end }),
  };
}

function endingOf(ending: "unsaid" | "period_end"): "period_end" | undefined {
  return ending === "unsaid" ? undefined : ending;
}

/** Replaces `period_end` with the end of the customer's current period. */
function timeOf(time: string | null | undefined, { plan }: Customer): string | null | undefined {
  return time === "period_end" ? plan?.periodEndsAt : time;
}

/** Explains why the API rejected the request. */
function Refusal({
  error,
  plan,
  current,
  shorten,
}: {
  error: Error | null;
  plan: string;
  current: Customer["plan"];
  shorten: ReactNode;
}) {
  const clock = useClock();
  switch (error instanceof ApiProblem ? error.code : null) {
    case "would_shorten":
      return (
        <Callout tone="warn" title={`${plan} would end earlier`}>
          <p className="mb-2">
            {current?.endsAt == null
              ? `${plan} currently has no end date.`
              : `${plan} currently ends on ${formatTime(current.endsAt, clock)}.`}
          </p>
          {shorten}
        </Callout>
      );
    case "ends_in_the_past":
      return (
        <Callout tone="bad" title="The end date is too early">
          Choose a future date after the plan starts.
        </Callout>
      );
    case "no_running_period":
      return (
        <Callout tone="bad" title="The plan has no current period">
          {`${current?.name ?? "The customer's plan"} has no allowance that renews. Choose a date instead.`}
        </Callout>
      );
    default:
      return <ProblemCallout error={error} />;
  }
}

function changeOf({ plan: before }: Customer, after: Customer["plan"]): string {
  return before?.key === after?.key ? "New end date" : `${before?.name ?? "No plan"} → ${after?.name}`;
}

function isSameAssignment(a: AssignmentBody, b: AssignmentBody): boolean {
  return a.plan === b.plan && a.startsAt === b.startsAt && a.endsAt === b.endsAt;
}
