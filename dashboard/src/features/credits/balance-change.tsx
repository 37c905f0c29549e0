import { ArrowRight } from "lucide-react";
import { formatChange, formatCount } from "../../format/numbers.ts";
import { usePoolNames } from "../../frame/use-scope.ts";

export function BalanceChange({ pool, before, gain }: { pool: string; before: number; gain: number }) {
  const nameOf = usePoolNames();
  return (
    <dl className="flex items-baseline justify-between gap-4 rounded-md bg-sunken px-3 py-2">
      <dt className="text-muted">Balance{pool === "credits" ? "" : ` (${nameOf(pool)})`}</dt>
      <dd className="flex items-center gap-2 text-section font-semibold">
        <span className="font-normal text-muted">{formatCount(before)}</span>
        <ArrowRight className="size-4 text-muted" aria-label="becomes" />
        {formatCount(before + gain)}
        <span className="text-body font-normal text-muted">({formatChange(gain)})</span>
      </dd>
    </dl>
  );
}
