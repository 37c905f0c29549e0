import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { type ReactNode, Suspense, useState } from "react";
import { answerOf, api } from "../../api/client.ts";
import { queryClient } from "../../api/query-client.ts";
import { about, refresh, useWrite } from "../../api/use-write.ts";
import { GRANT_NAMES } from "../../format/ledger.ts";
import { countOf, formatStep } from "../../format/numbers.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { Dialog, DialogActions, WriteForm } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { notify } from "../../ui/toast.tsx";
import { type CustomerScope, customerQuery, customerScopeOf, nameOf } from "../customers/queries.ts";
import { MovedLink } from "../ledger/ledger-links.tsx";
import type { Grant } from "../ledger/queries.ts";
import { BalanceChange } from "./balance-change.tsx";

/** Revokes the remaining and held credits of a grant after confirmation. */
export function RevokeButton({ customerScope, grant }: { customerScope: CustomerScope; grant: Grant }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {grant.remaining + grant.held > 0 && grant.revokedAt === null && (
        <span className="-my-1.5 -mr-2 inline-flex">
          <Button tone="quiet" onClick={() => setOpen(true)}>
            Revoke<span className="sr-only"> grant {grant.grant}</span>
          </Button>
        </span>
      )}
      {/* Closed dialogs in every row would slow down the list. */}
      {isOpen && <RevokeDialog customerScope={customerScope} grant={grant} onClose={() => setOpen(false)} />}
    </>
  );
}

function RevokeDialog({
  customerScope,
  grant,
  onClose,
}: {
  customerScope: CustomerScope;
  grant: Grant;
  onClose: () => void;
}) {
  const { data: customer } = useSuspenseQuery(customerQuery(customerScope));
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Revoke grant"
      note={`${GRANT_NAMES[grant.kind]} (grant ${grant.grant}) of ${nameOf(customer)}: ${countOf(grant.credits, "credit")}.`}
    >
      <Suspense fallback={<SkeletonRows rows={3} />}>
        <ReadAgain customerScope={customerScope} rows={3}>
          <RevokeForm customerScope={customerScope} grant={grant} onDone={onClose} />
        </ReadAgain>
      </Suspense>
    </Dialog>
  );
}

function RevokeForm(props: { customerScope: CustomerScope; grant: Grant; onDone: () => void }) {
  const { customerScope, onDone } = props;
  // Frozen, so that a background refresh does not change the confirmed amount.
  const [grant] = useState(props.grant);
  const { credits, remaining, held, pool } = grant;
  const left = remaining + held;
  const { data: customer } = useSuspenseQuery(customerQuery(customerScope));
  const before = balanceIn(customer, pool);
  const [note, setNote] = useState("");
  const request = {
    params: { path: { ...customerScope, grant: String(grant.grant) } },
    body: note.trim() === "" ? {} : { note: note.trim() },
  };
  const revoke = useWrite(
    "post",
    "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/grants/{grant}/revoke",
    {
      onSuccess: ({ credits: removed, movedTo: taker, customer: after }) => {
        // Another member has moved the credits. The dialog shows the customer who has them.
        if (taker !== null) return;
        const balance = balanceIn(after, pool);
        notify(`Revoked grant ${grant.grant}`, `Balance ${formatStep(balance + removed, balance)}`);
        onDone();
      },
      onSettled: () => refresh("customers"),
    },
  );
  const movedTo = revoke.data?.movedTo ?? grant.movedTo;
  if (movedTo !== null) return <Moved to={movedTo} customerScope={customerScope} onClose={onDone} />;
  return (
    <WriteForm
      write={revoke}
      request={request}
      action={`Revoke ${countOf(left, "credit")}`}
      tone="danger"
      isDisabled={left === 0}
      onClose={onDone}
    >
      <p>
        {left === 0
          ? "This grant has no credits left."
          : `${describeRemoved(grant)}${describeSpent(credits - left)}This cannot be undone.`}
      </p>
      <BalanceChange pool={pool} before={before} gain={-remaining} />
      {remaining > 0 && (
        <TextField
          label="Reason"
          hint="Optional. Shown in the ledger and the audit log."
          maxLength={1_000}
          autoComplete="off"
          value={note}
          onChange={({ target }) => setNote(target.value)}
        />
      )}
    </WriteForm>
  );
}

/** Shows which customer now has the credits of a moved grant. Only the grant of that customer can be revoked. */
function Moved({
  to,
  customerScope,
  onClose,
}: {
  to: NonNullable<Grant["movedTo"]>;
  customerScope: CustomerScope;
  onClose: () => void;
}) {
  return (
    <>
      <Callout tone="warn" title="Nothing to revoke">
        These credits were moved to <MovedLink other={to} customerScope={customerScope} />
        {to.customerId === null ? "." : `, grant ${to.grant}. Revoke them there.`}
      </Callout>
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
      </DialogActions>
    </>
  );
}

function describeRemoved({ remaining, held }: Grant): string {
  const now = remaining === 0 ? "" : `Removes the remaining ${countOf(remaining, "credit")}. `;
  if (held === 0) return now;
  return `${now}The ${countOf(held, "held credit")} cannot return to the balance when the hold ends. `;
}

function describeSpent(spent: number): string {
  if (spent === 0) return "";
  return `The ${countOf(spent, "credit")} already spent ${spent === 1 ? "is" : "are"} not affected. `;
}

function balanceIn(
  { balances }: { balances: readonly { pool: string; balance: number }[] },
  wanted: string,
): number {
  return balances.find(({ pool }) => pool === wanted)?.balance ?? 0;
}

/** Refreshes all of the customer's data before it shows a confirmation. */
function ReadAgain({
  customerScope,
  rows,
  children,
}: {
  customerScope: CustomerScope;
  rows: number;
  children: ReactNode;
}) {
  const { isSuccess, error } = useQuery({
    queryKey: ["read again", customerScope],
    queryFn: async () => {
      await queryClient.refetchQueries({ ...about("customers"), type: "active" }, { throwOnError: true });
      return true;
    },
    // Read once per opened dialog. The API detects later changes.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  if (error !== null) return <ProblemCallout error={error} />;
  return isSuccess ? children : <SkeletonRows rows={rows} />;
}

const CUSTOMER_PATH = "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}";

/** Revokes a grant that was just added, unless some of its credits are spent or held. */
export async function undoCredits(customerScope: CustomerScope, number: number): Promise<void> {
  const path = customerScopeOf(customerScope);
  try {
    const { items } = await answerOf(api.GET(`${CUSTOMER_PATH}/grants`, { params: { path } }));
    const grant = items.find(({ grant }) => grant === number);
    if (grant === undefined || grant.remaining < grant.credits) {
      notify(
        "Could not undo",
        "Some of these credits are no longer available. Check the grant under Grants.",
      );
      return;
    }
    const params = { path: { ...path, grant: String(number) } };
    const { credits } = await answerOf(
      api.POST(`${CUSTOMER_PATH}/grants/{grant}/revoke`, { params, body: {} }),
    );
    notify("Undone", `Revoked ${countOf(credits, "credit")}`);
  } catch {
    notify("Could not undo", "Check under Grants whether the credits are still there.");
  } finally {
    await refresh("customers");
  }
}
