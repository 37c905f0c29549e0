import { useQuery } from "@tanstack/react-query";
import { CircleAlert, ShieldCheck } from "lucide-react";
import { usePlace } from "../../frame/use-place.ts";
import { useClock } from "../../ui/preferences.ts";
import { countOf, formatCount } from "../../words/numbers.ts";
import { formatTime } from "../../words/times.ts";
import { proofQuery } from "./overview-queries.ts";

/** Whether the whole ledger comes to the balance; read anew, and never in the way of the page. */
export function ProofLine({ customerId }: { customerId: string }) {
  const clock = useClock();
  const { data: proof, error, isFetching, refetch } = useQuery(proofQuery(usePlace(), customerId));
  if (proof === undefined) {
    return error === null ? "Adding up the ledger…" : `The ledger was not added up: ${error.message}`;
  }
  const at = formatTime(proof.checkedAt, clock);
  const again = (
    <button
      type="button"
      className="rounded underline decoration-line-strong underline-offset-2 hover:text-ink"
      aria-busy={isFetching}
      onClick={() => void refetch()}
    >
      Check again
    </button>
  );
  if (error !== null) {
    return (
      <span role="alert" className="text-bad">
        <CircleAlert className="mr-1 inline size-3.5 align-text-bottom" aria-hidden />
        The ledger was not added up again: {error.message} {again}
      </span>
    );
  }
  if (!proof.isSound) {
    return (
      <span role="alert" className="text-bad">
        <CircleAlert className="mr-1 inline size-3.5 align-text-bottom" aria-hidden />
        The ledger does not sum to the balance, checked {at}:{" "}
        {proof.pools
          .map(
            ({ pool, ledgerSum, balance, grantsLeft }) =>
              `${pool} sums to ${formatCount(ledgerSum)}, last entry ${formatCount(balance)}, grants ${grantsLeft === null ? "unreadable" : formatCount(grantsLeft)}`,
          )
          .join("; ")}
        . Run purser verify. {again}
      </span>
    );
  }
  return (
    <span>
      <ShieldCheck className="mr-1 inline size-3.5 align-text-bottom text-good" aria-hidden />
      Ledger sums to balance, checked {at} ({countOf(proof.entries, "entry", "entries")}). {again}
    </span>
  );
}
