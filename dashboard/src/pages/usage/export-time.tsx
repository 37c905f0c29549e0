import { Select, TextField } from "../../ui/field.tsx";
import { useTypedMoments } from "../../ui/usage/use-typed-moments.ts";
import { nameOfClock } from "../../words/moments.ts";
import type { ExportSearch } from "./export-search.ts";
import { lastMonths, nameOfMonth, thisMonth } from "./month-search.ts";

const OFFERED = 13;
const DAY_MS = 86_400_000;

/** Of when: a month as the books have it, two moments, or all that is shown. */
export function ExportTime({
  search: { month, from, to },
  onChange,
}: {
  search: ExportSearch;
  onChange: (change: Partial<Record<keyof ExportSearch, unknown>>) => void;
}) {
  const offered = lastMonths(OFFERED);
  const months = month === undefined || offered.includes(month) ? offered : [month, ...offered];
  return (
    <>
      <Select
        label="Time"
        value={from === undefined ? (month ?? "") : "custom"}
        options={[
          { value: "", label: "Everything, as far as history is shown" },
          ...months.map((value) => ({
            value,
            label: value === thisMonth() ? `${nameOfMonth(value)}, so far` : nameOfMonth(value),
          })),
          { value: "custom", label: "Between two times" },
        ]}
        onChange={({ target: { value } }) =>
          onChange(value === "custom" ? lastDay() : { month: value, from: undefined, to: undefined })
        }
      />
      {from !== undefined && to !== undefined && <Moments from={from} to={to} onChange={onChange} />}
    </>
  );
}

/** Whatever is typed stays; what makes sense goes to the address, and with anything else the form cannot be sent. */
function Moments({
  from,
  to,
  onChange,
}: {
  from: string;
  to: string;
  onChange: (moments: { from: string; to: string }) => void;
}) {
  const { clock, typed, setTyped, read } = useTypedMoments({ from, to });
  const isReversed = typed.from !== "" && typed.to !== "" && typed.from >= typed.to;
  function type(change: Partial<typeof typed>): void {
    const next = { ...typed, ...change };
    setTyped(next);
    const moments = read(next);
    if (moments !== null) onChange(moments);
  }
  return (
    <div className="flex flex-col gap-4">
      <TextField
        type="datetime-local"
        label="From"
        hint={nameOfClock(clock)}
        required
        value={typed.from}
        onChange={({ target }) => type({ from: target.value })}
      />
      <TextField
        ref={(input) => input?.setCustomValidity(isReversed ? NOT_LATER : "")}
        type="datetime-local"
        label="Up to, but without"
        hint={nameOfClock(clock)}
        error={isReversed ? NOT_LATER : undefined}
        required
        value={typed.to}
        onChange={({ target }) => type({ to: target.value })}
      />
    </div>
  );
}

const NOT_LATER = "Must be later than where it begins";

function lastDay() {
  const now = Date.now();
  const hour = now - (now % 3_600_000);
  return { from: new Date(hour - DAY_MS).toISOString(), to: new Date(hour).toISOString() };
}
