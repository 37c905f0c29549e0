import { useSuspenseQuery } from "@tanstack/react-query";
import { usePlace } from "../../frame/use-place.ts";
import { type Allowance, capitalize, givenInWords, rolloverInWords } from "../../words/terms.ts";
import { poolsQuery } from "./queries.ts";

/** One for each pool; which pool it is goes without saying where there is one. */
export function AllowanceLines({
  allowances,
}: {
  allowances: readonly (Allowance & { readonly pool: string })[];
}) {
  const { data: pools } = useSuspenseQuery(poolsQuery(usePlace()));
  if (allowances.length === 0) return <p className="text-muted">Gives no credits.</p>;
  return (
    <ul className="flex flex-col gap-2">
      {allowances.map((allowance) => {
        const { pool } = allowance;
        const rollover = rolloverInWords(allowance);
        const name = pools.length > 1 ? `in ${pools.find(({ key }) => key === pool)?.name ?? pool}` : null;
        const note = [name, rollover].filter((part) => part !== null).join(", ");
        return (
          <li key={pool}>
            <span className="block font-medium">{givenInWords(allowance)}</span>
            {note !== "" && <span className="block text-caption text-muted">{capitalize(note)}</span>}
          </li>
        );
      })}
    </ul>
  );
}
