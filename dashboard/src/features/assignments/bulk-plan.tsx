import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useForm, useWatch } from "react-hook-form";
import type { Answer, Body, Scope } from "../../api/answer.ts";
import { plansQuery } from "../../api/catalog-lists.ts";
import { answerOf, api } from "../../api/client.ts";
import { callOf } from "../../api/use-write.ts";
import { countOf, formatBalances } from "../../format/numbers.ts";
import { describePlan } from "../../format/plan-standing.ts";
import { readMoment } from "../../format/times.ts";
import { usePoolNames, useScope } from "../../frame/use-scope.ts";
import { Callout } from "../../ui/callout.tsx";
import { useClock } from "../../ui/time.tsx";
import type { BulkChange, Effect } from "../customers/bulk-change.ts";
import { BulkDialog, type BulkDialogProps } from "../customers/bulk-dialog.tsx";
import type { Customer } from "../customers/queries.ts";
import { BulkLosses } from "./bulk-losses.tsx";
import { type AssignmentForm, EMPTY_ASSIGNMENT, PlanFields } from "./plan-fields.tsx";

export const BULK_PATH = "/manage/v1/projects/{projectId}/{environment}/bulk-assignments";

/** Customers per preview. The API accepts more, but a preview of 1,000 customers is a large response. */
const BATCH_SIZE = 200;

/** Assigns one plan to the selected customers. */
export function BulkPlanDialog({ customers, onChanged, onClose }: BulkDialogProps) {
  const scope = useScope();
  const clock = useClock();
  const nameOf = usePoolNames();
  const { data: plans } = useSuspenseQuery(plansQuery(scope));
  const { register, setValue, control } = useForm<AssignmentForm>({ defaultValues: EMPTY_ASSIGNMENT });
  const form = useWatch({ control, compute: (values: AssignmentForm) => values });
  const endsAt = form.ending === "at" ? readMoment(form.endsAt, clock) : null;
  const order: PlanOrder = { plan: form.plan, ...(endsAt === null ? {} : { endsAt }) };
  const isReady = form.plan !== "" && (form.ending !== "at" || endsAt !== null);
  const ids = customers.map(({ customerId }) => customerId);
  const preview = useQuery({
    queryKey: ["bulk preview", scope, order, ids],
    queryFn: ({ signal }) => previewPlan(scope, order, ids, signal),
    enabled: isReady,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  const effects = preview.data?.map((customer) => describeEffect(customer, nameOf)) ?? null;
  const changing = effects?.filter(({ after }) => after !== null).map(({ customer }) => customer) ?? [];
  const changingIds = changing.map(({ customerId }) => customerId);
  const plan = plans.find(({ key }) => key === form.plan) ?? null;
  const name = plan?.name ?? "plan";
  return (
    <BulkDialog
      title="Assign plan"
      action={`Assign ${name} to`}
      past={`Assigned ${name} to`}
      same="already had the plan or a later end date"
      change={assignPlanTo(scope, order)}
      onChanged={onChanged}
      effects={isReady ? effects : null}
      problem={preview.error}
      call={
        isReady && effects !== null
          ? callOf("post", BULK_PATH, {
              params: { path: scope },
              body: { filter: { customerIds: changingIds }, ...order, expectedCount: changingIds.length },
            })
          : null
      }
      onClose={onClose}
    >
      <PlanFields register={register} setValue={setValue} form={form} plans={plans} customer={null} />
      {isReady && preview.isFetching && (
        <p role="status" className="text-muted">
          Checking the selected customers…
        </p>
      )}
      {isReady && plan !== null && <BulkLosses customers={changing} plan={plan} />}
      {isReady && <CanceledChanges customers={preview.data ?? []} />}
    </BulkDialog>
  );
}

type PlanOrder = Omit<Body<"previewBulkAssignment">, "filter" | "cursor">;
type Preview = Answer<"previewBulkAssignment">["sample"][number];

/** Reads the effect on each customer from the API. */
async function previewPlan(
  scope: Scope,
  order: PlanOrder,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Preview[]> {
  const effects: Preview[] = [];
  for (let at = 0; at < ids.length; at += BATCH_SIZE) {
    const { sample } = await answerOf(
      api.POST(`${BULK_PATH}/preview`, {
        params: { path: scope },
        body: { filter: { customerIds: ids.slice(at, at + BATCH_SIZE) }, ...order },
        signal,
      }),
    );
    effects.push(...sample);
  }
  return effects;
}

function describeEffect(customer: Preview, nameOf: (pool: string) => string): Effect {
  const { before, after } = customer;
  const canceled = canceledBy(customer);
  const note = canceled === null ? "" : `. Cancels the change to ${canceled.name}`;
  return {
    customer: before,
    before: describeState(before, nameOf),
    after: isLeftOut(customer) ? null : `${describeState(after, nameOf)}${note}`,
  };
}

/**
 * Whether to leave out a customer. True if nothing would change, or if the assignment would only make the default plan an assigned plan and
 * cancel a scheduled change.
 */
function isLeftOut(customer: Preview): boolean {
  const { before, after } = customer;
  if (isWithoutEffect(customer)) return true;
  if (canceledBy(customer) === null || before.plan === null || after.plan === null) return false;
  const plan = { ...before.plan, isDefault: after.plan.isDefault };
  return isWithoutEffect({ before: { ...before, plan }, after });
}

/** The scheduled change that the assignment cancels. */
function canceledBy({ before, after }: Preview): Customer["nextPlan"] {
  return after.nextPlan === null ? before.nextPlan : null;
}

/** Warns about scheduled changes. An undo does not restore the plan of these customers. */
function CanceledChanges({ customers }: { customers: readonly Preview[] }) {
  const count = customers.filter((each) => !isLeftOut(each) && canceledBy(each) !== null).length;
  if (count === 0) return null;
  return (
    <Callout tone="warn" title={`Cancels the scheduled plan changes for ${countOf(count, "customer")}`}>
      You cannot undo the assignment for {count === 1 ? "this customer" : "these customers"}.
    </Callout>
  );
}

export function isWithoutEffect({ before, after }: Preview): boolean {
  return JSON.stringify([before.plan, before.balances]) === JSON.stringify([after.plan, after.balances]);
}

/** Plan and balance of a customer: "Pro, 250". */
function describeState({ plan, balances }: Customer, nameOf: (pool: string) => string): string {
  return `${describePlan(plan)}, ${formatBalances(balances, nameOf)}`;
}

function assignPlanTo(scope: Scope, order: PlanOrder): BulkChange {
  return async (customerIds, signal) => {
    const body = { filter: { customerIds: [...customerIds] }, ...order, expectedCount: customerIds.length };
    const { changed, unchanged, wouldShorten, skipped, auditEntryId } = await answerOf(
      api.POST(BULK_PATH, { params: { path: scope }, body, signal }),
    );
    return { changed, unchanged: unchanged + wouldShorten + skipped, refused: [], auditEntryId };
  };
}
