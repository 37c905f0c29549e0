import { useSuspenseQuery } from "@tanstack/react-query";
import { usePlace } from "../../frame/use-place.ts";
import { type Allowance, allowanceInWords } from "../../words/terms.ts";
import { poolsQuery } from "./queries.ts";

/** One line for each pool; which pool it is goes without saying where there is one. */
export function AllowanceLines({
  allowances,
}: {
  allowances: readonly (Allowance & { readonly pool: string })[];
}) {
  const { data: pools } = useSuspenseQuery(poolsQuery(usePlace()));
  if (allowances.length === 0) return <p className="text-muted">Gives no credits.</p>;
  return allowances.map((allowance) => (
    <p key={allowance.pool}>
      {allowanceInWords(allowance)}
      {pools.length > 1 && (
        <span className="text-muted"> in {pools.find(({ key }) => key === allowance.pool)?.name}</span>
      )}
    </p>
  ));
}
