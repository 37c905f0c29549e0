import type { Answer, Body } from "../../api/answer.ts";
import { formatCharge } from "../../format/overage.ts";
import {
  describeAnswers,
  explainAnswer,
  overageCharged,
  summarizeAnswers,
} from "../../format/request-sentences.ts";
import { useCustomerName } from "../../frame/customer-picker.tsx";
import { KeyLink } from "../../frame/links.tsx";
import { useScope } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";

type Result = Answer<"tryRequest"> & { tried: Body<"tryRequest"> };

export function TestRequestResult({ result: { answers, charged, tried } }: { result: Result }) {
  const { endpoint, customerId, idempotencyKey } = tried;
  const customer = useCustomerName(useScope(), customerId);
  const overage = endpoint === "consume" ? overageCharged(answers) : 0;
  return (
    <section aria-label="Result" className="flex flex-col gap-3 rounded-lg border border-line bg-sunken p-4">
      <div role="status">
        <p className="text-section font-semibold">{summarizeAnswers(endpoint, answers)}</p>
        <p className="text-muted">
          {charged + overage === 0
            ? "Nothing was charged."
            : `${formatCharge({ credits: charged, overage })} charged to ${customer} in total.`}
        </p>
      </div>
      {answers.map((answer, index) => {
        const body = JSON.stringify(answer.body, null, 2);
        const isSame = answers
          .slice(0, index)
          .some((before) => JSON.stringify(before.body, null, 2) === body);
        return (
          <Group
            key={`${answer.status} ${answer.isReplay} ${body}`}
            what={describeAnswers(endpoint, answer)}
            answer={answer}
            body={isSame ? null : body}
          />
        );
      })}
      {endpoint === "consume" && (
        <p>
          <KeyLink idempotencyKey={idempotencyKey}>Open {idempotencyKey}</KeyLink>
        </p>
      )}
    </section>
  );
}

function Group({
  what,
  answer,
  body,
}: {
  what: string;
  answer: Result["answers"][number];
  /** Null if equal to the body of an earlier response. */
  body: string | null;
}) {
  const why = explainAnswer(answer);
  return (
    <div className="flex flex-col gap-1.5">
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={answer.status < 400 ? "plain" : "warn"}>{answer.status}</Badge>
        <span className="font-medium">{what}</span>
        <span className="text-muted">
          {[
            ...(why === null ? [] : [why]),
            ...(body === null ? ["Same response, byte for byte"] : []),
            ...(answer.isReplay ? ["Idempotent-Replayed: true"] : []),
          ].join(". ")}
        </span>
      </p>
      {body !== null && <CodeBlock label={`the response to ${what}`} code={body} />}
    </div>
  );
}
