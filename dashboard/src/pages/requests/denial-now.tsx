import { useMayActAs } from "../../frame/use-session.ts";
import { Callout } from "../../ui/callout.tsx";
import { Card } from "../../ui/card.tsx";
import { useClock } from "../../ui/preferences.ts";
import { nextStepsOf, waitingHelps, whatNow } from "../../words/denial-now.ts";
import { type SumLine, sumOf } from "../../words/denial-sentences.ts";
import { formatTime } from "../../words/times.ts";
import { DenialStep } from "./denial-step.tsx";
import type { Denial } from "./queries.ts";
import { Sum } from "./sum.tsx";

/** Whether the same request would be allowed by now, and what can be done if not. */
export function DenialNow({ denial }: { denial: Denial }) {
  const clock = useClock();
  const isOperator = useMayActAs("operator");
  const [first, ...others] = whatNow(denial);
  const steps = nextStepsOf(denial);
  const wait = waitingHelps(denial, (at) => formatTime(at, clock));
  const isAllowed = denial.now?.allowed === true;
  return (
    <Card title="Now">
      <div className="flex flex-col gap-4">
        <Callout tone={isAllowed ? "good" : "warn"} {...(first === undefined ? {} : { title: first })}>
          {others.map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
        </Callout>
        <Sum lines={otherSum(denial)} label="The sum by now" />
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

/** Where it comes out as it did then, it is not said twice. */
function otherSum({ now, quantity, ...then }: Denial): SumLine[] {
  if (now === null || now.allowed) return [];
  const lines = sumOf(now, quantity);
  return JSON.stringify(lines) === JSON.stringify(sumOf(then, quantity)) ? [] : lines;
}
