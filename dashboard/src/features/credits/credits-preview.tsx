import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Ref } from "react";
import type { Answer } from "../../api/answer.ts";
import { queryOf } from "../../api/client.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { joinList, pluralOf } from "../../format/terms.ts";
import { formatAgo } from "../../format/times.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { classNames } from "../../ui/class-names.ts";
import { Checkbox } from "../../ui/field.tsx";
import { Time } from "../../ui/time.tsx";
import { type CustomerScope, customerScopeOf } from "../customers/queries.ts";
import { GrantLink } from "../ledger/ledger-links.tsx";
import { type CreditsBody, givenReference } from "./credits-form.ts";

/** Preview of the new balance and the usage that it pays for. */
export function CreditsOutcome({
  preview,
  customerId,
  isAsked,
  isOld,
  onMove,
}: {
  preview: CreditsPreview | undefined;
  customerId: string;
  isAsked: boolean;
  isOld: boolean;
  /** Called to move the credits from another customer who got this reference. */
  onMove: (grant: { customerId: string; grant: number }) => void;
}) {
  return (
    <output
      aria-label="Preview"
      aria-busy={isOld}
      className={classNames(
        "block min-h-20 rounded-md bg-sunken px-3 py-2.5 transition-opacity",
        isOld && "opacity-50",
      )}
    >
      {preview === undefined ? (
        <p className="text-muted">{isAsked ? "Loading preview…" : "Enter an amount to see a preview."}</p>
      ) : (
        <Effect preview={preview} customerId={customerId} onMove={onMove} />
      )}
    </output>
  );
}

function Effect({
  preview,
  customerId,
  onMove,
}: {
  preview: CreditsPreview;
} & Pick<Parameters<typeof CreditsOutcome>[0], "customerId" | "onMove">) {
  const { outcome, refusal, balanceBefore, balanceAfter, plan, buys, referenceUsedBy } = preview;
  if (refusal?.code === "reference_reused" && referenceUsedBy !== null && referenceUsedBy.customerId !== null)
    return (
      <ReferenceUsed
        use={{ ...referenceUsedBy, customerId: referenceUsedBy.customerId }}
        customerId={customerId}
        onMove={onMove}
      />
    );
  if (refusal !== null) return <Callout tone="bad">{refusal.detail}</Callout>;
  if (outcome === "already_added") {
    return (
      <p>
        Nothing will be added. This reference was already used. The balance stays at{" "}
        {formatCount(balanceBefore ?? 0)}.
      </p>
    );
  }
  return (
    <>
      <p className="text-caption font-medium text-muted">Balance</p>
      <p className="text-section font-semibold tabular-nums">
        {formatCount(balanceBefore ?? 0)} <span className="text-muted">→</span>{" "}
        {formatCount(balanceAfter ?? 0)}
      </p>
      <p className="text-muted">
        {plan === null
          ? "The customer has no plan, so these credits cannot be spent yet."
          : buys.length === 0
            ? "No feature in the plan uses these credits."
            : `Enough for ${joinList(buys.map(formatPurchase), "or")}.`}
      </p>
    </>
  );
}

type ReferenceUse = NonNullable<CreditsPreview["referenceUsedBy"]> & { customerId: string };

/** Shows which customer got credits with this reference, and offers to move these credits. */
function ReferenceUsed({
  use,
  customerId,
  onMove,
}: {
  use: ReferenceUse;
} & Pick<Parameters<typeof CreditsOutcome>[0], "customerId" | "onMove">) {
  const scope = useScope();
  const { customerId: owner, customerName, grant, credits, recordedAt } = use;
  const isOwn = owner === customerId;
  const link = (
    <GrantLink customerScope={{ ...scope, customerId: owner }} grant={grant}>
      {isOwn ? `grant ${grant}` : (customerName ?? owner)}
    </GrantLink>
  );
  return (
    <Callout
      tone="bad"
      title={
        isOwn ? "Reference already used for a different grant" : "Reference already used for another customer"
      }
    >
      <p>
        {isOwn ? (
          <>
            This customer got {countOf(credits, "credit")} as {link}{" "}
          </>
        ) : (
          <>
            {link} got {countOf(credits, "credit")}{" "}
          </>
        )}
        with this reference on <Time at={recordedAt} />.
      </p>
      {!isOwn && (
        <div className="mt-2">
          <Button onClick={() => onMove({ customerId: owner, grant })}>Move these credits here</Button>
        </div>
      )}
    </Callout>
  );
}

function formatPurchase({ name, unit, quantity }: CreditsPreview["buys"][number]): string {
  return unit === null ? `${formatCount(quantity)} × ${name}` : countOf(quantity, unit, pluralOf(unit));
}

type CreditsPreview = Answer<"previewCredits">;

/** Preview of a top-up. Never cached. */
export function creditsPreviewQuery(customerScope: CustomerScope, body: CreditsBody | null) {
  // Price and note do not affect the preview.
  const { price: _, note: __, ...asked } = body ?? { credits: 0, kind: "manual" as const };
  return queryOptions({
    ...queryOf(
      "post",
      "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/credits/preview",
      {
        params: { path: customerScopeOf(customerScope) },
        body: asked,
      },
    ),
    enabled: body !== null,
    staleTime: 0,
    gcTime: 0,
    meta: { showsOwnErrors: true },
    placeholderData: keepPreviousData,
  });
}

/** Identifies the recent duplicates that the user has to accept. Null if there are no duplicates. */
export function twinsOf({ outcome, twins }: CreditsPreview): string | null {
  // If the reference was already used, the "duplicate" is this top-up itself.
  if (outcome !== "added" || twins.length === 0) return null;
  return twins.map(({ grant }) => grant).join();
}

const SHOWN_MAX = 3;

/** Asks for confirmation before repeating a recent top-up. */
export function TwinWarning({
  twins,
  amount,
  isAccepted,
  onAccept,
  boxRef,
}: {
  twins: CreditsPreview["twins"];
  /** "500 credits". */
  amount: string;
  isAccepted: boolean;
  onAccept: (isAccepted: boolean) => void;
  boxRef: Ref<HTMLInputElement>;
}) {
  return (
    <Callout tone="warn" title="Possible duplicate">
      <ul>
        {twins.slice(0, SHOWN_MAX).map(({ grant, by, recordedAt, reference }) => (
          <li key={grant}>
            {by?.name ?? by?.id ?? "Someone"} added the same {amount} {formatAgo(recordedAt, Date.now())}
            {givenReference(reference) === null ? "" : ` with reference ${reference}`}.
          </li>
        ))}
        {twins.length > SHOWN_MAX && <li>And {twins.length - SHOWN_MAX} more.</li>}
      </ul>
      <div className="mt-2">
        <Checkbox
          ref={boxRef}
          label={`Add another ${amount}`}
          checked={isAccepted}
          onChange={(event) => onAccept(event.target.checked)}
        />
      </div>
    </Callout>
  );
}
