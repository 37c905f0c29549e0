import type { UseFormRegister, UseFormSetValue } from "react-hook-form";
import type { PlanSummary } from "../../api/catalog-lists.ts";
import { capitalize } from "../../format/terms.ts";
import { formatDay, formatTime, nameOfClock, readMoment } from "../../format/times.ts";
import { Select, TextField } from "../../ui/field.tsx";
import { useClock } from "../../ui/time.tsx";
import type { Customer } from "../customers/queries.ts";

export type AssignmentForm = {
  plan: string;
  starting: "now" | "period_end" | "at";
  startsAt: string;
  ending: "unsaid" | "none" | "period_end" | "at";
  endsAt: string;
};

export const EMPTY_ASSIGNMENT: AssignmentForm = {
  plan: "",
  starting: "now",
  startsAt: "",
  ending: "unsaid",
  endsAt: "",
};

type Form = {
  register: UseFormRegister<AssignmentForm>;
  setValue: UseFormSetValue<AssignmentForm>;
  form: AssignmentForm;
};

/** Fields for the plan, its start and its end. */
export function PlanFields({
  plans,
  customer,
  ...fields
}: Form & {
  plans: readonly PlanSummary[];
  /** The customer. Null for a bulk assignment, which starts the plan now. */
  customer: Customer | null;
}) {
  const { register, setValue, form } = fields;
  const current = customer?.plan ?? null;
  return (
    <>
      <Select
        label="Plan"
        autoFocus
        required
        options={[
          { value: "", label: "Choose a plan", isDisabled: true },
          ...offered(plans, current).map(({ key, name }) => ({
            value: key,
            label: key === current?.key ? `${name} (current)` : name,
          })),
        ]}
        {...register("plan", {
          // The start and end options depend on the plan.
          onChange: () => {
            setValue("starting", "now");
            setValue("ending", "unsaid");
          },
        })}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        {customer !== null && form.plan !== "" && !hasPlan(customer, form.plan) && (
          <StartFields {...fields} current={current} />
        )}
        <EndFields {...fields} current={current?.key === form.plan ? current : null} />
      </div>
    </>
  );
}

/** Whether the plan is assigned to the customer. Assigning it again changes its end date. */
export function hasPlan({ plan }: Customer, key: string): boolean {
  return plan !== null && plan.key === key && !plan.isDefault;
}

/** For a past time, the API starts the plan now instead of scheduling it. */
export function isPast(at: string | null): boolean {
  return at !== null && Date.parse(at) <= Date.now();
}

function StartFields({ register, form, current }: Form & { current: Customer["plan"] }) {
  const clock = useClock();
  const periodEnd = current?.periodEndsAt ?? null;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Select
        label="Starts"
        options={[
          { value: "now", label: "Now" },
          ...(periodEnd === null ? [] : [periodEndOption(formatDay(periodEnd, clock))]),
          { value: "at", label: "On a specific date" },
        ]}
        {...register("starting")}
      />
      {form.starting === "at" && (
        <TextField
          label="Start date"
          type="datetime-local"
          required
          hint={`${capitalize(nameOfClock(clock))}.`}
          error={isPast(readMoment(form.startsAt, clock)) ? "Choose a time in the future." : undefined}
          {...register("startsAt")}
        />
      )}
    </div>
  );
}

function periodEndOption(day: string) {
  return { value: "period_end", label: `End of period, ${day}` };
}

/** `current` is the customer's plan if that plan is chosen, otherwise null. */
function EndFields({ register, form, current }: Form & { current: Customer["plan"] }) {
  const clock = useClock();
  const { endsAt = null, periodEndsAt = null } = current ?? {};
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Select
        label="Ends"
        options={[
          ...(endsAt === null
            ? [{ value: "unsaid", label: "Never" }]
            : [
                { value: "unsaid", label: `No change: ${formatTime(endsAt, clock)}` },
                { value: "none", label: "Never" },
              ]),
          ...(periodEndsAt === null ? [] : [periodEndOption(formatDay(periodEndsAt, clock))]),
          { value: "at", label: "On a specific date" },
        ]}
        {...register("ending")}
      />
      {form.ending === "at" && (
        <TextField
          label="End date"
          type="datetime-local"
          required
          hint={`${capitalize(nameOfClock(clock))}.`}
          {...register("endsAt")}
        />
      )}
    </div>
  );
}

/** Published plans that are not archived, and the current plan. */
function offered(plans: readonly PlanSummary[], current: Customer["plan"]): PlanSummary[] {
  return plans.filter(
    ({ key, latest, archivedAt }) => key === current?.key || (latest !== null && archivedAt === null),
  );
}
