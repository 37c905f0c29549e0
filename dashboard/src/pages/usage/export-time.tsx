import { Select, TextField } from "../../ui/field.tsx";
import { useClock } from "../../ui/preferences.ts";
import { momentText, nameOfClock, readMoment } from "../../words/moments.ts";
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
  const clock = useClock();
  const offered = lastMonths(OFFERED);
  const months = month === undefined || offered.includes(month) ? offered : [month, ...offered];
  return (
    <>
      <Select
        label="Time"
        value={from === undefined ? (month ?? "") : "custom"}
        options={[
          { value: "", label: "All that the history window shows" },
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
      {from !== undefined && to !== undefined && (
        <div className="flex flex-col gap-4">
          {Object.entries({ from, to }).map(([name, at]) => (
            <TextField
              key={`${name} ${at}`}
              type="datetime-local"
              label={name === "from" ? "From" : "Up to, but without"}
              hint={nameOfClock(clock)}
              defaultValue={momentText(Date.parse(at), clock)}
              required
              onBlur={({ target }) => onChange({ [name]: readMoment(target.value, clock) ?? at })}
            />
          ))}
        </div>
      )}
    </>
  );
}

function lastDay() {
  const now = Date.now();
  const hour = now - (now % 3_600_000);
  return { from: new Date(hour - DAY_MS).toISOString(), to: new Date(hour).toISOString() };
}
