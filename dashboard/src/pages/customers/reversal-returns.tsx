import { Callout } from "../../ui/callout.tsx";
import { Time } from "../../ui/time.tsx";
import { GRANT_WORDS } from "../../words/ledger-words.ts";
import { countOf, formatChange } from "../../words/numbers.ts";
import type { Grant } from "./ledger-queries.ts";
import type { Fate, ReversalPreview } from "./reversal-preview.ts";

/** What goes back to which grants, and what becomes of it there. */
export function ReversalReturns({ preview }: { preview: ReversalPreview | null }) {
  if (preview === null) return <p>The credits go back to the grants that they came from.</p>;
  if (preview.returns.length === 0) {
    return <p>It cost no credits, so none go back. What was counted towards a limit no longer counts.</p>;
  }
  const lost = preview.credits - preview.gain;
  return (
    <div className="flex flex-col gap-2">
      <h3 className="text-form font-medium">Goes back to</h3>
      <ul className="divide-y divide-line rounded-md border border-line">
        {preview.returns.map(({ number, grant, credits, fate }) => (
          <li key={number} className="flex items-center gap-3 px-3 py-2">
            <span className="min-w-0 flex-1">
              {grant === null ? `Grant ${number}` : `${GRANT_WORDS[grant.kind]}, grant ${number}`}
              <span className="block text-caption text-muted">
                <FateOf fate={fate} grant={grant} />
              </span>
            </span>
            <span className="font-medium text-good tabular-nums">{formatChange(credits)}</span>
          </li>
        ))}
      </ul>
      {lost > 0 && (
        <Callout tone="warn">
          {countOf(lost, "credit")} of it cannot be spent again, because the grant is over. Add credits
          instead if the customer should have them.
        </Callout>
      )}
    </div>
  );
}

function FateOf({ fate, grant }: { fate: Fate; grant: Grant | null }) {
  switch (fate) {
    case "revoked":
      return "It was revoked, so this is taken back again at once.";
    case "expires":
      return "It has expired, so this expires again at once.";
    case "waits":
      return "The customer has left its plan: this waits with the plan, and counts once it is taken up again.";
    case "stays":
      if (grant === null) return "Can be spent again.";
      if (grant.expiresAt === null) return "Can be spent again, without an end.";
      return (
        <>
          Can be spent again until <Time at={grant.expiresAt} />.
        </>
      );
  }
}
