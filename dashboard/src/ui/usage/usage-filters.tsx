import { X } from "lucide-react";
import { useId } from "react";
import { BUCKET_NAMES } from "../../format/times.ts";
import { bucketsFor } from "../../format/usage-range.ts";
import {
  GROUP_NAMES,
  GROUPS,
  type GroupBy,
  hasPools,
  METRICS,
  TOPS,
  type UsageSearch,
  type UsageSettings,
} from "../../format/usage-search.ts";
import { Segments } from "../choices.tsx";
import { Select } from "../field.tsx";
import { EnterField } from "../filter-field.tsx";
import { RangeFields } from "./range-fields.tsx";

export type UsageChange = Partial<Record<keyof UsageSearch, unknown>>;

/** Metric, range and grouping, all kept in the URL. */
export function UsageFilters({
  search,
  settings,
  fields,
  pools,
  names = {},
  groups = () => true,
  onChange,
}: {
  search: UsageSearch;
  settings: UsageSettings;
  /** Metadata fields in recent events. */
  fields: readonly string[];
  /** With several pools, one can be selected. */
  pools: readonly { readonly key: string; readonly name: string }[];
  /** The names that active filters show instead of keys or IDs. */
  names?: Partial<Record<string, string>>;
  /** Groupings to offer. */
  groups?: (group: GroupBy) => boolean;
  onChange: (change: UsageChange) => void;
}) {
  const seen = useId();
  const choosesPool = hasPools(settings.source) && pools.length > 1;
  return (
    <search className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <div className="w-44 max-sm:w-full">
          <Select
            label="Metric"
            isLabelHidden
            value={settings.what}
            options={Object.entries(METRICS).map(([value, { name }]) => ({ value, label: name }))}
            onChange={({ target }) => onChange({ what: target.value })}
          />
        </div>
        {choosesPool && (
          <div className="w-40 max-sm:w-full">
            <Select
              label="Pool"
              isLabelHidden
              value={search.pool ?? ""}
              options={[
                { value: "", label: "All pools" },
                ...pools.map(({ key, name }) => ({ value: key, label: name })),
              ]}
              onChange={({ target }) => onChange({ pool: target.value || undefined })}
            />
          </div>
        )}
        <RangeFields
          search={search}
          range={settings}
          onChange={(change) => onChange({ ...change, bucket: undefined })}
        />
        <div className="w-32 max-sm:w-auto max-sm:flex-1">
          <Select
            label="Interval"
            isLabelHidden
            value={settings.bucket}
            options={bucketsFor(settings.span).map((value) => ({ value, label: BUCKET_NAMES[value] }))}
            onChange={({ target }) => onChange({ bucket: target.value })}
          />
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <span aria-hidden className="text-form font-medium">
          Group by
        </span>
        <Segments
          label="Group by"
          options={GROUPS[settings.source]
            .filter(groups)
            .map((value) => ({ value, name: GROUP_NAMES[value] }))}
          chosen={settings.groupBy}
          onChoose={(groupBy) => onChange({ groupBy })}
        />
        {settings.groupBy === "metadata" && (
          <div className="w-60 max-sm:w-full">
            <EnterField
              label="Metadata field"
              placeholder={`Field, for example ${fields[0] ?? "model"}`}
              maxLength={120}
              list={seen}
              value={settings.field ?? ""}
              onEnter={(field) => onChange({ field })}
            />
            <datalist id={seen}>
              {fields.map((field) => (
                <option key={field} value={field} />
              ))}
            </datalist>
          </div>
        )}
        {settings.groupBy !== "nothing" && (
          <div className="w-24">
            <Select
              label="Number of groups"
              isLabelHidden
              value={settings.top}
              options={TOPS.map((top) => ({ value: String(top), label: `Top ${top}` }))}
              onChange={({ target }) => onChange({ top: Number(target.value) })}
            />
          </div>
        )}
        {Object.entries(settings.filters)
          .filter(([name]) => name !== "pool" || !choosesPool)
          .map(([name, value]) => (
            <Chip
              key={name}
              name={name}
              value={names[name] ?? value}
              onRemove={() => onChange({ [name]: undefined })}
            />
          ))}
      </div>
    </search>
  );
}

const FILTER_NAMES: Record<string, string> = {
  feature: "Feature",
  pool: "Pool",
  event: "Event key",
  customerId: "Customer",
};

/** An active filter and the button that removes it. */
function Chip({ name, value, onRemove }: { name: string; value: string; onRemove: () => void }) {
  const word = FILTER_NAMES[name] ?? name;
  return (
    <span className="inline-flex h-8 max-w-full items-center gap-1.5 rounded-md bg-accent-soft pl-2.5 text-body">
      <span className="text-muted">{word}</span>
      <span className="truncate font-medium">{value}</span>
      <button
        type="button"
        aria-label={`Remove filter ${word.toLowerCase()} ${value}`}
        onClick={onRemove}
        className="inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:text-ink"
      >
        <X className="size-3.5" aria-hidden />
      </button>
    </span>
  );
}
