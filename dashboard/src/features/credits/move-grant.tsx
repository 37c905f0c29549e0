import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { type Answer, scopeOf } from "../../api/answer.ts";
import { queryOf } from "../../api/client.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { GRANT_NAMES } from "../../format/ledger.ts";
import { countOf, formatCount, formatStep } from "../../format/numbers.ts";
import { CustomerPicker } from "../../frame/customer-picker.tsx";
import { CustomerLink } from "../../frame/links.tsx";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { classNames } from "../../ui/class-names.ts";
import { WriteDialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { Details } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import { type CustomerScope, customerScopeOf } from "../customers/queries.ts";
import type { Grant } from "../ledger/queries.ts";
import { givenReference } from "./credits-form.ts";

/** Moves the remaining credits of a grant to a customer that the user chooses. */
export function MoveButton({ customerScope, grant }: { customerScope: CustomerScope; grant: Grant }) {
  const [isOpen, setOpen] = useState(false);
  const isMovable = grant.kind !== "allowance" && grant.remaining > 0 && grant.revokedAt === null;
  if (!isMovable && !isOpen) return null;
  return (
    <>
      <span className="-my-1.5 inline-flex">
        <Button tone="quiet" onClick={() => setOpen(true)}>
          Move<span className="sr-only"> grant {grant.grant} to another customer</span>
        </Button>
      </span>
      {isOpen && (
        <MoveGrantDialog customerScope={customerScope} grant={grant.grant} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

type MovePreview = Answer<"previewMove">;

/** Previews and confirms a move. `to` is set if the receiving customer is known. */
export function MoveGrantDialog({
  customerScope,
  grant,
  to,
  onClose,
}: {
  customerScope: CustomerScope;
  grant: number;
  to?: { readonly customerId: string; readonly name: string | null };
  onClose: () => void;
}) {
  const [chosen, setChosen] = useState("");
  const [note, setNote] = useState("");
  const wanted = to?.customerId ?? chosen;
  const isOther = wanted !== "" && wanted !== customerScope.customerId;
  const asked = useDeferredValue(isOther ? wanted : null);
  const preview = useQuery(movePreviewQuery(customerScope, grant, asked));
  const shown = asked === null || !isOther ? undefined : preview.data;
  const request = {
    params: { path: { ...customerScopeOf(customerScope), grant: String(grant) } },
    body: { to: wanted, ...(note.trim() === "" ? {} : { note: note.trim() }) },
  };
  const move = useWrite("post", `${GRANT_PATH}/move`, {
    onSuccess: async ({ outcome, credits, spent, from, to: into }) => {
      const names = shown === undefined ? null : namesOf(shown);
      const [giver, taker] = [names?.from ?? from.customerId, names?.to ?? into.customerId];
      notify(
        outcome === "moved" ? `Moved ${countOf(credits, "credit")} to ${taker}` : "Nothing moved",
        outcome === "moved"
          ? `${giver} ${formatStep(from.balanceBefore, from.balanceAfter)}, ${taker} ${formatStep(into.balanceBefore, into.balanceAfter)}${spent === 0 ? "" : `. ${countOf(spent, "spent credit")} did not move`}`
          : `These credits were already moved to ${taker}.`,
      );
      onClose();
      await refresh("customers");
    },
  });
  const isReady = shown?.outcome === "moved" && shown.to.customerId === wanted && !preview.isPlaceholderData;
  return (
    <WriteDialog
      title={
        to === undefined ? "Move credits to another customer" : `Move credits to ${to.name ?? to.customerId}`
      }
      note="For credits that were added to the wrong customer."
      write={move}
      request={isOther ? request : null}
      action={isReady ? `Move ${countOf(shown.credits, "credit")}` : "Move credits"}
      isDisabled={!isReady}
      onClose={onClose}
    >
      {to === undefined && (
        <CustomerPicker
          label="Customer"
          scope={scopeOf(customerScope)}
          customerId={chosen}
          onChoose={(customer) => setChosen(customer?.customerId ?? "")}
          error={wanted === customerScope.customerId ? "Choose another customer." : undefined}
        />
      )}
      <output
        aria-label="Preview"
        aria-busy={preview.isPlaceholderData}
        className={classNames("flex flex-col gap-3", preview.isPlaceholderData && "opacity-50")}
      >
        {shown !== undefined ? (
          <Effect preview={shown} />
        ) : isOther && preview.error !== null ? (
          <ProblemCallout error={preview.error} />
        ) : (
          <p className="text-muted">{isOther ? "Loading preview…" : "Choose a customer to see a preview."}</p>
        )}
      </output>
      <TextField
        label="Note"
        hint="Optional. Stored with the new grant."
        maxLength={1_000}
        value={note}
        onChange={(event) => setNote(event.target.value)}
      />
    </WriteDialog>
  );
}

function namesOf({ from, to }: MovePreview): { from: string; to: string } {
  return { from: from.customerName ?? from.customerId, to: to.customerName ?? to.customerId };
}

function Effect({ preview }: { preview: MovePreview }) {
  const { outcome, refusal, credits, granted, spent, held, kind, reference, from, to } = preview;
  const names = namesOf(preview);
  const isMove = outcome === "moved";
  return (
    <>
      {refusal !== null && <Callout tone="bad">{refusal.detail}</Callout>}
      {outcome === "already_moved" && (
        <Callout tone="good">
          {countOf(credits, "credit")} of this grant {credits === 1 ? "was" : "were"} already moved to{" "}
          {names.to}.
        </Callout>
      )}
      <dl className="divide-y divide-line rounded-md bg-sunken px-3">
        {[from, to].map(({ customerId, customerName, balanceBefore, balanceAfter }) => (
          <div key={customerId} className="flex items-baseline justify-between gap-4 py-2">
            <dt className="min-w-0 text-muted">
              Balance of <CustomerLink customerId={customerId} name={customerName} />
            </dt>
            <dd className="text-section font-semibold whitespace-nowrap tabular-nums">
              {isMove ? formatStep(balanceBefore, balanceAfter) : formatCount(balanceAfter)}
            </dd>
          </div>
        ))}
      </dl>
      {(spent ?? 0) > 0 && isMove && (
        <Callout tone="warn" title={`${countOf(spent ?? 0, "credit")} already spent`}>
          {names.from} spent {spent === 1 ? "it" : "them"}. Only the remaining credits move. To replace the
          spent credits, add goodwill credits to {names.to}.
        </Callout>
      )}
      {held > 0 && (
        <Callout tone="warn" title={`${countOf(held, "credit")} held`}>
          Held credits will not be moved. When the hold ends, they are spent or revoked. To move them too,
          release the hold first.
        </Callout>
      )}
      {refusal === null && (
        <Details
          items={[
            { name: "Grant", value: `${GRANT_NAMES[kind]} of ${countOf(granted, "credit")}` },
            { name: "Added", value: <Time at={preview.recordedAt} /> },
            {
              name: "Expires",
              value: preview.expiresAt === null ? "Never" : <Time at={preview.expiresAt} />,
            },
            // Totals of prices count each price once.
            ...(kind === "purchase" ? [{ name: "Price", value: "Not moved" }] : []),
            ...(givenReference(reference) === null
              ? []
              : [
                  {
                    name: "New reference",
                    value: <code className="font-mono wrap-anywhere">{reference}</code>,
                  },
                ]),
          ]}
        />
      )}
    </>
  );
}

const GRANT_PATH = "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/grants/{grant}";

/** Preview of a move. Never cached. */
function movePreviewQuery(customerScope: CustomerScope, grant: number, to: string | null) {
  return queryOptions({
    ...queryOf("post", `${GRANT_PATH}/move/preview`, {
      params: { path: { ...customerScopeOf(customerScope), grant: String(grant) } },
      body: { to: to ?? "" },
    }),
    enabled: to !== null,
    staleTime: 0,
    gcTime: 0,
    retry: false,
    meta: { showsOwnErrors: true },
    placeholderData: keepPreviousData,
  });
}
