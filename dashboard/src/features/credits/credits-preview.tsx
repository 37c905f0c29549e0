import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Ref } from "react";
import type { Answer } from "../../api/answer.ts";
import { queryOf } from "../../api/client.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { pluralOf } from "../../format/terms.ts";
import { formatAgo } from "../../format/times.ts";
import { Callout } from "../../ui/callout.tsx";
import { classNames } from "../../ui/class-names.ts";
import { Checkbox } from "../../ui/field.tsx";
import { type Whose, whoseOf } from "../customers/queries.ts";
import { type CreditsBody, givenReference } from "./credits-form.ts";

/** Before anything is done: what it will be afterwards, and what that pays for. */
export function CreditsOutcome({
  preview,
  isAsked,
  isOld,
}: {
  preview: CreditsPreview | undefined;
  isAsked: boolean;
  isOld: boolean;
}) {
  return (
    <output
      aria-label="What this will do"
      aria-busy={isOld}
      className={classNames(
        "block min-h-20 rounded-md bg-sunken px-3 py-2.5 transition-opacity",
        isOld && "opacity-50",
      )}
    >
      {preview === undefined ? (
        <p className="text-muted">
          {isAsked ? "Working out what it will do…" : "Enter an amount to see what it will do."}
        </p>
      ) : (
        <Effect preview={preview} />
      )}
    </output>
  );
}

function Effect({ preview }: { preview: CreditsPreview }) {
  const { outcome, refusal, balanceBefore, balanceAfter, plan, buys } = preview;
  if (refusal !== null) return <Callout tone="bad">{refusal.detail}</Callout>;
  if (outcome === "already_added") {
    return (
      <p>
        Nothing will be added: these very credits are there already, under this reference. The balance stays{" "}
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
          ? "There is no plan, so these credits wait. They are not lost."
          : buys.length === 0
            ? "Nothing of the plan is paid for with these credits."
            : `Pays for ${buys.map(buyInWords).join(", or ")}.`}
      </p>
    </>
  );
}

function buyInWords({ name, unit, quantity }: CreditsPreview["buys"][number]): string {
  return unit === null ? `${formatCount(quantity)} × ${name}` : countOf(quantity, unit, pluralOf(unit));
}

type CreditsPreview = Answer<"previewCredits">;

/** What adding them would do, as the API sees it this moment: never from memory. */
export function creditsPreviewQuery(whose: Whose, body: CreditsBody | null) {
  // What it cost and what was noted changes nothing about it.
  const { price: _, note: __, ...asked } = body ?? { credits: 0, kind: "manual" as const };
  return queryOptions({
    ...queryOf(
      "post",
      "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/credits/preview",
      {
        params: { path: whoseOf(whose) },
        body: asked,
      },
    ),
    enabled: body !== null,
    staleTime: 0,
    gcTime: 0,
    meta: { tellsFailures: true },
    placeholderData: keepPreviousData,
  });
}

/** The same credits within the last minutes, as a name for exactly these: who accepts them has seen them. Null: none. */
export function twinsOf({ outcome, twins }: CreditsPreview): string | null {
  // Its own reference is there already: what looks like a twin is this very top-up.
  if (outcome !== "added" || twins.length === 0) return null;
  return twins.map(({ grant }) => grant).join();
}

const SHOWN_MAX = 3;

/** A top-up that somebody repeats is added again: that must be meant. */
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
    <Callout tone="warn" title="The same was added a moment ago">
      <ul>
        {twins.slice(0, SHOWN_MAX).map(({ grant, by, recordedAt, reference }) => (
          <li key={grant}>
            {by?.name ?? by?.id ?? "Somebody"} added the same {amount} {formatAgo(recordedAt, Date.now())}
            {givenReference(reference) === null ? "" : `, as ${reference}`}.
          </li>
        ))}
        {twins.length > SHOWN_MAX && <li>And {twins.length - SHOWN_MAX} more.</li>}
      </ul>
      <div className="mt-2">
        <Checkbox
          ref={boxRef}
          label={`Add ${amount} again, on purpose`}
          checked={isAccepted}
          onChange={(event) => onAccept(event.target.checked)}
        />
      </div>
    </Callout>
  );
}
