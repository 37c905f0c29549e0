import { useState } from "react";
import { momentText, nameOfClock, readMoment } from "../../format/times.ts";
import { momentsOf, RANGE_OPTIONS, type Range, type RangeSearch } from "../../format/usage-range.ts";
import { Button } from "../button.tsx";
import { Select, TextField } from "../field.tsx";
import { useClock } from "../time.tsx";

type RangeChange = { range?: string | undefined; from?: string | undefined; to?: string | undefined };

const BUCKET_MS = 900_000;

/** Selects a named range or two times. */
export function RangeFields({
  search,
  range,
  anyName,
  names = RANGE_OPTIONS.map(({ value }) => value),
  onChange,
}: {
  search: RangeSearch;
  /** Current range, the initial value of a custom range. */
  range: Range;
  /** Label of the "any time" option, if a range is optional. */
  anyName?: string;
  /** The named ranges to offer. */
  names?: readonly string[];
  onChange: (change: RangeChange) => void;
}) {
  const isCustom = search.from !== undefined;
  const options = [
    ...(anyName === undefined ? [] : [{ value: "any", label: anyName }]),
    ...RANGE_OPTIONS.filter(({ value }) => names.includes(value)),
    { value: "custom", label: "Custom range" },
  ];
  return (
    <>
      <div className="w-44 max-sm:w-auto max-sm:flex-1">
        <Select
          label="Range"
          isLabelHidden
          value={isCustom ? "custom" : (search.range ?? (anyName === undefined ? "30d" : "any"))}
          options={options}
          onChange={({ target: { value } }) =>
            onChange(
              value === "custom"
                ? { range: undefined, ...momentsOf(range, Date.now()) }
                : { range: value, from: undefined, to: undefined },
            )
          }
        />
      </div>
      {search.from !== undefined && search.to !== undefined && (
        <MomentFields
          key={`${search.from} ${search.to}`}
          from={search.from}
          to={search.to}
          onApply={(moments) => onChange({ ...moments, range: undefined })}
        />
      )}
    </>
  );
}

function MomentFields({
  from,
  to,
  onApply,
}: {
  from: string;
  to: string;
  onApply: (moments: { from: string; to: string }) => void;
}) {
  const { clock, typed, setTyped, read } = useTypedMoments({ from, to });
  const moments = read(typed);
  const isChanged = moments?.from !== from || moments.to !== to;
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (moments !== null) onApply(moments);
      }}
    >
      {(["from", "to"] as const).map((name) => (
        <TextField
          key={name}
          type="datetime-local"
          step={BUCKET_MS / 1000}
          label={`${name === "from" ? "From" : "To"} (${nameOfClock(clock)})`}
          isLabelHidden
          required
          value={typed[name]}
          onChange={({ target }) => setTyped({ ...typed, [name]: target.value })}
        />
      ))}
      {isChanged && (
        <Button type="submit" isDisabled={moments === null}>
          Apply
        </Button>
      )}
    </form>
  );
}

type Moments = { readonly from: string; readonly to: string };

/** State of two time inputs. `read` returns null while the range is invalid. */
export function useTypedMoments({ from, to }: Moments) {
  const clock = useClock();
  const [typed, setTyped] = useState<Moments>({
    from: momentText(Date.parse(from), clock),
    to: momentText(Date.parse(to), clock),
  });
  const read = (texts: Moments): Moments | null => {
    const [begin, end] = [readMoment(texts.from, clock), readMoment(texts.to, clock)];
    return begin !== null && end !== null && begin < end ? { from: begin, to: end } : null;
  };
  return { clock, typed, setTyped, read };
}
