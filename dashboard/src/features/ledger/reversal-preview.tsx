import { queryOptions } from "@tanstack/react-query";
import type { Answer } from "../../api/answer.ts";
import { queryOf } from "../../api/client.ts";
import { GRANT_WORDS } from "../../format/ledger-words.ts";
import { countOf, formatChange, formatCount } from "../../format/numbers.ts";
import { Callout } from "../../ui/callout.tsx";
import { Time } from "../../ui/time.tsx";
import { type Whose, whoseOf } from "../customers/queries.ts";

type Return = ReversalPreview["returns"][number];

/** What goes back to which grants, and what becomes of it there. */
export function ReversalReturns({ preview: { returns } }: { preview: ReversalPreview }) {
  if (returns.length === 0) {
    return <p>It cost no credits, so none go back. What was counted towards a limit no longer counts.</p>;
  }
  const lost = returns.reduce((sum, { credits, spendable }) => sum + credits - spendable, 0);
  return (
    <div className="flex flex-col gap-2">
      <h3 className="text-form font-medium">Goes back to</h3>
      <ul className="divide-y divide-line rounded-md border border-line">
        {returns.map((back) => (
          <li key={back.grant} className="flex items-center gap-3 px-3 py-2">
            <span className="min-w-0 flex-1">
              {GRANT_WORDS[back.kind]}, grant {back.grant}
              <span className="block text-caption text-muted">
                <Stays back={back} /> {restInWords(back)}
              </span>
            </span>
            <span className="font-medium text-good tabular-nums">{formatChange(back.credits)}</span>
          </li>
        ))}
      </ul>
      {lost > 0 && (
        <Callout tone="warn">
          {countOf(lost, "credit")} of it cannot be spent now. Add credits instead if the customer should have
          them.
        </Callout>
      )}
    </div>
  );
}

function Stays({ back: { spendable, credits, expiresAt } }: { back: Return }) {
  if (spendable === 0) return null;
  const what = spendable === credits ? "Can be spent again" : `${formatCount(spendable)} can be spent again`;
  if (expiresAt === null) return `${what}, without an end.`;
  return (
    <>
      {what} until <Time at={expiresAt} />.
    </>
  );
}

function restInWords({ spendable, credits, rest }: Return): string | null {
  const what = spendable === 0 ? "this" : `the other ${formatCount(credits - spendable)}`;
  switch (rest) {
    case "revoked":
      return `It was revoked, so ${what} is taken back again at once.`;
    case "expired":
      return `It is over, so ${what} expires again at once.`;
    case "waiting":
      return `The customer has left its plan: ${what} waits with the plan, and counts once it is taken up again.`;
    default:
      return null;
  }
}

export type ReversalPreview = Answer<"previewReversal">;

/** What reversing a charge would do, as the API decides it now. Null: all that is left of it. */
export function reversalPreviewQuery(whose: Whose, consumeId: string, quantity: number | null) {
  return queryOptions({
    ...queryOf(
      "post",
      "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/consumes/{consumeId}/reverse/preview",
      { params: { path: { ...whoseOf(whose), consumeId } }, body: { quantity } },
    ),
    // Once for each opening: what changes later is found out by trying.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
    meta: { tellsFailures: true },
  });
}
