import { useState } from "react";
import { refresh, useWrite } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { randomHex } from "../../format/hex.ts";
import { countOf } from "../../format/numbers.ts";
import { describeReason } from "../../format/request-sentences.ts";
import { useCustomerName } from "../../frame/customer-picker.tsx";
import { KeyLink } from "../../frame/links.tsx";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { ApiCall } from "../../ui/code-block.tsx";

/** Charges a customer in Test from the page, and shows the result. Sending the charge again with the same key charges nothing more. */
export function FirstCharge({
  customerId,
  feature,
  onCharged,
}: {
  customerId: string;
  feature: { readonly key: string; readonly name: string };
  onCharged?: () => void;
}) {
  const scope = useScope();
  const customer = useCustomerName(scope, customerId);
  const mayCharge = useMayActAs("operator");
  const [idempotencyKey] = useState(() => `first-charge-${randomHex(3)}`);
  const send = useWrite("post", "/manage/v1/projects/{projectId}/{environment}/tries", {
    onSuccess: async ({ answers }) => {
      await refresh("customers", "usage");
      if (answers[0]?.body["allowed"] === true) onCharged?.();
    },
  });
  if (!mayCharge || scope.environment === "live") return null;
  const request = {
    params: { path: scope },
    body: {
      endpoint: "consume" as const,
      customerId,
      feature: feature.key,
      quantity: 1,
      idempotencyKey,
      times: 1,
    },
  };
  const answer = send.data?.answers[0];
  return (
    <div className="flex flex-col gap-2">
      <div>
        <Button isBusy={send.isPending} onClick={() => send.mutate(request)}>
          {inEnvironment(`Charge ${customer} for ${feature.name}`, scope.environment)}
        </Button>
      </div>
      <ProblemCallout error={send.error} />
      <div role="status">
        {answer !== undefined && (
          <span className="flex flex-wrap items-center gap-2">
            <Result body={answer.body} charged={send.data?.charged ?? 0} isReplay={answer.isReplay} />
            {answer.status < 400 && <KeyLink idempotencyKey={idempotencyKey}>Open the request</KeyLink>}
          </span>
        )}
      </div>
      <ApiCall call={send.callOf(request)} />
    </div>
  );
}

function Result({
  body,
  charged,
  isReplay,
}: {
  body: Readonly<Record<string, unknown>>;
  charged: number;
  isReplay: boolean;
}) {
  if (body["allowed"] === true)
    return (
      <>
        <Badge tone="good">Allowed</Badge>
        {isReplay
          ? "The same response again. Nothing more was charged."
          : `${countOf(charged, "credit")} charged.`}
      </>
    );
  const why = typeof body["reason"] === "string" ? describeReason(body["reason"]) : String(body["title"]);
  return (
    <>
      <Badge tone="bad">Denied</Badge>
      {why}. Nothing was charged.
    </>
  );
}
