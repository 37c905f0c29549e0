import {
  describeNow,
  describeWait,
  type NextStep,
  nextStepsOf,
  type SumLine,
  sumOf,
} from "../../format/denial-sentences.ts";
import { formatCount } from "../../format/numbers.ts";
import { formatZoned } from "../../format/times.ts";
import { useFeatureNames, useMayActAs, useScope } from "../../frame/use-scope.ts";
import { ButtonLink, type Tone } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { classNames } from "../../ui/class-names.ts";
import { Card } from "../../ui/page.tsx";
import { useClock } from "../../ui/time.tsx";
import type { Denial } from "./queries.ts";

/** Whether the same request would be allowed now, and how to resolve the denial. */
export function DenialNow({ denial }: { denial: Denial }) {
  const clock = useClock();
  const isOperator = useMayActAs("operator");
  const [first, ...others] = describeNow(denial, useFeatureNames());
  const steps = nextStepsOf(denial);
  const wait = describeWait(denial, (at) => formatZoned(at, clock));
  const isAllowed = denial.now?.allowed === true;
  return (
    <Card title="Current outcome">
      <div className="flex flex-col gap-4">
        <Callout tone={isAllowed ? "good" : "warn"} {...(first === undefined ? {} : { title: first })}>
          {others.map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
        </Callout>
        <Sum lines={otherSum(denial)} label="Current calculation" />
        {isOperator && steps.length > 0 && (
          <div className="flex flex-wrap gap-2">
            {steps.map((step, index) => (
              <DenialStep key={step.kind} step={step} denial={denial} isFirst={index === 0} />
            ))}
          </div>
        )}
        {wait !== null && <p className="text-muted">{wait}</p>}
      </div>
    </Card>
  );
}

/** The current calculation. Empty if nothing has changed since the denial. */
function otherSum(denial: Denial): SumLine[] {
  const { now } = denial;
  if (now === null || now.allowed) return [];
  const lines = sumOf(denial, now);
  return JSON.stringify(lines) === JSON.stringify(sumOf(denial)) ? [] : lines;
}

/** Link to an action that resolves the denial. */
export function DenialStep({
  step,
  denial: { customerId, plan, feature },
  isFirst,
}: {
  step: NextStep;
  denial: {
    readonly customerId: string | null;
    readonly plan: { readonly key: string; readonly name: string } | null;
    readonly feature: string;
  };
  isFirst: boolean;
}) {
  const scope = useScope();
  const isAdmin = useMayActAs("admin");
  const tone: Tone = isFirst ? "primary" : "plain";
  if (step.kind === "define-feature") {
    return !isAdmin ? null : (
      <ButtonLink
        tone={tone}
        to="/projects/$projectId/$environment/features"
        params={scope}
        search={{ define: feature }}
      >
        Create feature
      </ButtonLink>
    );
  }
  if (step.kind === "edit-plan") {
    if (plan === null) return null;
    return (
      <ButtonLink
        tone={tone}
        to="/projects/$projectId/$environment/plans/$key"
        params={{ ...scope, key: plan.key }}
      >
        Open plan {plan.name}
      </ButtonLink>
    );
  }
  if (customerId === null) return null;
  const search = { do: step.kind };
  return (
    <ButtonLink
      tone={tone}
      to="/projects/$projectId/$environment/customers/$customerId"
      params={{ ...scope, customerId }}
      search={search}
    >
      {step.kind === "add-credits" && step.missing !== null
        ? `Add credits (${formatCount(step.missing)} short)`
        : NAMES[step.kind]}
    </ButtonLink>
  );
}

const NAMES = {
  "add-credits": "Add credits",
  "assign-plan": "Assign plan",
  "edit-overrides": "Edit overrides",
  unblock: "Unblock customer",
} as const;

/** Calculation as a table with a result line. */
export function Sum({ lines, label }: { lines: readonly SumLine[]; label: string }) {
  if (lines.length === 0) return null;
  return (
    <table aria-label={label} className="w-full max-w-80 border-collapse text-form">
      <tbody>
        {lines.map(({ name, value, isResult }) => (
          <tr
            key={name}
            className={classNames(isResult && "border-t-2 border-line-strong font-semibold text-bad")}
          >
            <th
              scope="row"
              className={classNames("py-1 text-left", isResult ? "font-semibold" : "font-normal text-muted")}
            >
              {name}
            </th>
            <td className="py-1 text-right">{formatCount(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
