import { Callout } from "../../ui/callout.tsx";
import { classNames } from "../../ui/class-names.ts";
import { countOf, formatCount } from "../../words/numbers.ts";
import { pluralOf } from "../../words/terms.ts";
import type { CreditsPreview as Preview } from "./credits-preview-query.ts";

/** Before anything is done: what it will be afterwards, and what that pays for. */
export function CreditsPreview({
  preview,
  isAsked,
  isOld,
}: {
  preview: Preview | undefined;
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

function Effect({ preview }: { preview: Preview }) {
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

function buyInWords({ name, unit, quantity }: Preview["buys"][number]): string {
  return unit === null ? `${formatCount(quantity)} × ${name}` : countOf(quantity, unit, pluralOf(unit));
}
