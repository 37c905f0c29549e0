import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { DialogActions } from "../../ui/dialog.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { countOf, formatCount, formatStep } from "../../words/numbers.ts";
import type { Whose } from "./audit-actors.ts";
import { BalanceChange } from "./balance-change.tsx";
import type { Grant } from "./ledger-queries.ts";
import { customerKey, customerQuery } from "./queries.ts";

export function RevokeForm(props: { whose: Whose; grant: Grant; onDone: () => void }) {
  const { whose, onDone } = props;
  // As it was read for this: what happens to it meanwhile is said here, and does not slip under the pointer.
  const [grant] = useState(props.grant);
  const { projectId, environment, customerId } = whose;
  const { credits, remaining, pool } = grant;
  const { data: customer } = useSuspenseQuery(customerQuery(whose, customerId));
  const before = balanceIn(customer, pool);
  const mutation = useRevocation(whose, grant, before, onDone);
  const spent = credits - remaining;
  const isOrAre = remaining === 1 ? "is" : "are";
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!mutation.isPending) mutation.mutate();
      }}
    >
      <p>
        {remaining === 0
          ? "Nothing is left of it to take back. "
          : `${countOf(remaining, "credit")} that ${isOrAre} left of it ${isOrAre} taken back. `}
        {spent > 0 && `The ${formatCount(spent)} that were spent stay spent. `}A revoked grant cannot be given
        back; credits can be added again.
      </p>
      <BalanceChange pool={pool} before={before} gain={-remaining} />
      <ProblemCallout error={mutation.error} />
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" tone="danger" isBusy={mutation.isPending} isDisabled={remaining === 0}>
          {inEnvironment(`Revoke ${countOf(remaining, "credit")}`, environment)}
        </Button>
      </DialogActions>
      <ApiCall
        call={{
          method: "POST",
          path: `/manage/v1/projects/${projectId}/${environment}/customers/${encodeURIComponent(customerId)}/grants/${grant.grant}/revoke`,
        }}
      />
    </form>
  );
}

function useRevocation(whose: Whose, { grant, pool }: Grant, before: number, onDone: () => void) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () =>
      answerOf(
        api.POST(
          "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/grants/{grant}/revoke",
          { params: { path: { ...whose, grant: String(grant) } } },
        ),
      ),
    onSuccess: ({ credits, customer }) => {
      tell(
        `Grant ${grant} revoked`,
        `${countOf(credits, "credit")} taken back. Balance ${formatStep(before, balanceIn(customer, pool))}`,
      );
      onDone();
    },
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: customerKey(whose, whose.customerId) }),
        queryClient.invalidateQueries({ queryKey: ["customers"] }),
      ]),
  });
}

function balanceIn(
  { balances }: { balances: readonly { pool: string; balance: number }[] },
  wanted: string,
): number {
  return balances.find(({ pool }) => pool === wanted)?.balance ?? 0;
}
