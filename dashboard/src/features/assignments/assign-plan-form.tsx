import { queryOptions, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useForm, useWatch } from "react-hook-form";
import type { Body, Scope } from "../../api/answer.ts";
import { ApiProblem } from "../../api/api-problem.ts";
import { type PlanSummary, plansQuery } from "../../api/catalog-lists.ts";
import { answerOf, api } from "../../api/client.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { formatCount } from "../../format/numbers.ts";
import { formatAllowance, joinList } from "../../format/terms.ts";
import { readMoment } from "../../format/times.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { classNames } from "../../ui/class-names.ts";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Time, useClock } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import type { Customer } from "../customers/queries.ts";
import { BULK_PATH } from "./bulk-assignment.tsx";
import { type AssignmentForm, PlanFields } from "./plan-fields.tsx";

export function AssignPlanDialog({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  const { customerId } = customer;
  const scope = useScope();
  const clock = useClock();
  const { data: plans } = useSuspenseQuery(plansQuery(scope));
  const { register, control, handleSubmit, formState } = useForm<AssignmentForm>({
    defaultValues: { plan: "", ending: "unsaid", endsAt: "" },
  });
  const form = useWatch({ control, compute: (values: AssignmentForm) => values });
  const body = readForm(form, readMoment(form.endsAt, clock));
  const preview = useQuery(assignmentPreviewQuery(scope, customerId, body));
  const requestOf = (wanted: AssignmentBody) => ({
    params: { path: { ...scope, customerId } },
    body: wanted,
  });
  const assign = useWrite(
    "post",
    "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/plan",
    {
      onSuccess: async ({ outcome, customer: { plan } }) => {
        if (outcome === "changed") {
          notify(
            `Assigned ${plan?.name ?? "no plan"} to ${customer.name ?? customerId}`,
            changeOf(customer, plan),
          );
          onClose();
        }
        await refresh("customers");
      },
    },
  );
  const chosen = plans.find(({ key }) => key === form.plan);
  const { error, variables: { body: asked } = { body } } = assign;
  const isUnchanged =
    assign.isSuccess && assign.data.outcome === "unchanged" && isSameAssignment(asked, body);
  return (
    <WriteDialog
      title={`Assign plan to ${customer.name ?? customerId}`}
      write={assign}
      request={form.plan === "" ? null : requestOf(body)}
      action={`Assign ${chosen?.name ?? "plan"}`}
      closeName={isUnchanged ? "Close" : "Cancel"}
      isBusy={formState.isSubmitting || assign.isPending}
      isDisabled={chosen === undefined || (form.ending === "at" && body.endsAt === undefined)}
      problem={
        isAboutEnd(error) && isSameAssignment(asked, body) ? (
          <Callout tone="warn" title={`${chosen?.name} would end earlier`}>
            <p className="mb-2">{error.message.replace(/ To end it earlier.*$/, "")}</p>
            <Button
              onClick={() => void assign.mutateAsync(requestOf({ ...body, shorten: true })).catch(() => {})}
              isBusy={assign.isPending}
            >
              End earlier
            </Button>
          </Callout>
        ) : (
          <ProblemCallout error={isAboutEnd(error) ? null : error} />
        )
      }
      onSubmit={handleSubmit(async () => {
        await assign.mutateAsync(requestOf(body)).catch(() => {});
      })}
      onClose={onClose}
    >
      <PlanFields register={register} form={form} plans={plans} current={customer.plan} />
      {chosen !== undefined && !isUnchanged && (
        <AssignmentPreview
          customer={customer}
          plan={chosen}
          effect={preview.data}
          isOld={preview.isFetching}
          error={preview.error}
        />
      )}
      {isUnchanged && (
        <div role="status">
          <Callout
            tone="good"
            title={`Nothing changed: ${customer.name ?? customerId} already has ${chosen?.name}`}
          >
            No credits were added or removed.
          </Callout>
        </div>
      )}
    </WriteDialog>
  );
}

function isAboutEnd(error: unknown): error is ApiProblem {
  return error instanceof ApiProblem && error.code === "would_shorten";
}

/** Without `endsAt`, the plan keeps its current end. */
function readForm({ plan, ending }: AssignmentForm, endsAt: string | null): AssignmentBody {
  if (ending === "none") return { plan, endsAt: null };
  return ending === "at" && endsAt !== null ? { plan, endsAt } : { plan };
}

function changeOf({ plan: before }: Customer, after: Customer["plan"]): string {
  return before?.key === after?.key ? "New end date" : `${before?.name ?? "No plan"} → ${after?.name}`;
}

/** Shows the plan and balance before and after. */
function AssignmentPreview({
  customer,
  plan,
  effect,
  isOld,
  error,
}: {
  customer: Customer;
  plan: PlanSummary;
  /** Undefined while loading; null if the preview did not include this customer. */
  effect: AssignmentEffect | null | undefined;
  isOld: boolean;
  error: unknown;
}) {
  if (error !== null) return <ProblemCallout error={error} />;
  return (
    <output
      aria-label="Preview"
      aria-busy={isOld}
      className={classNames(
        "block min-h-24 rounded-md bg-sunken px-3 py-2.5 transition-opacity",
        isOld && "opacity-50",
      )}
    >
      {effect && isWithoutEffect(effect) ? (
        <Nothing customer={customer} plan={plan} />
      ) : (
        <Change customer={customer} plan={plan} effect={effect} />
      )}
    </output>
  );
}

function Nothing({ customer, plan }: { customer: Customer; plan: PlanSummary }) {
  return (
    <>
      <p className="font-semibold">Nothing will change</p>
      <p className="text-muted">
        {customer.name ?? customer.customerId} already has {plan.name}. Assigning it again adds no credits.
      </p>
    </>
  );
}

function Change({
  customer: { plan: before },
  plan,
  effect,
}: {
  customer: Customer;
  plan: PlanSummary;
  effect: AssignmentEffect | null | undefined;
}) {
  const isSame = before?.key === plan.key;
  const end = effect?.after.plan?.endsAt ?? null;
  const allowances = plan.latest?.allowances ?? [];
  return (
    <>
      <p className="text-section font-semibold">
        {before?.name ?? "No plan"} <span className="text-muted">→</span> {plan.name}
      </p>
      {effect === undefined && <p className="text-muted">Calculating the balance…</p>}
      {effect === null && <p>No balance preview, because too many other customer IDs start with this ID.</p>}
      {effect?.after.balances.map(({ pool, balance }) => (
        <p key={pool} className="tabular-nums">
          {effect.after.balances.length === 1 ? "Balance" : `Balance (${pool})`}{" "}
          {formatCount(effect.before.balances.find((line) => line.pool === pool)?.balance ?? 0)}{" "}
          <span className="text-muted">→</span> {formatCount(balance)}
        </p>
      ))}
      {end !== null && (
        <p>
          Ends <Time at={end} />
        </p>
      )}
      <p className="text-muted">
        {isSame ? "Credits and period do not change." : started(before, allowances)}
      </p>
    </>
  );
}

function started(
  before: Customer["plan"],
  allowances: readonly Parameters<typeof formatAllowance>[0][],
): string {
  const given =
    allowances.length === 0
      ? "The plan includes no credits."
      : `Includes ${joinList(allowances.map((allowance) => formatAllowance(allowance)))}.`;
  return before === null
    ? `${given} The plan starts now.`
    : `${given} The plan starts now. Unused ${before.name} credits expire. Top-ups are kept.`;
}

type AssignmentBody = Body<"assignPlan">;
type AssignmentEffect = { before: Customer; after: Customer };

/** Uses the bulk preview, which searches by ID prefix. Null if the sample did not include this customer. */
function assignmentPreviewQuery(
  { projectId, environment }: Scope,
  customerId: string,
  { plan, endsAt }: AssignmentBody,
) {
  const scope = { projectId, environment };
  return queryOptions({
    queryKey: ["preview", BULK_PATH, scope, customerId, plan, endsAt],
    queryFn: async ({ signal }): Promise<AssignmentEffect | null> => {
      const { sample } = await answerOf(
        api.POST(`${BULK_PATH}/preview`, {
          params: { path: scope },
          // Preview an earlier end too; the form asks before applying it.
          body: {
            filter: { search: customerId },
            plan,
            shorten: true,
            ...(endsAt === undefined ? {} : { endsAt }),
          },
          signal,
        }),
      );
      return sample.find(({ before }) => before.customerId === customerId) ?? null;
    },
    enabled: plan !== "",
    staleTime: 0,
    gcTime: 0,
    retry: false,
    meta: { showsOwnErrors: true },
  });
}

function isSameAssignment(a: AssignmentBody, b: AssignmentBody): boolean {
  return a.plan === b.plan && a.endsAt === b.endsAt;
}

function isWithoutEffect({ before, after }: AssignmentEffect): boolean {
  return JSON.stringify([before.plan, before.balances]) === JSON.stringify([after.plan, after.balances]);
}
