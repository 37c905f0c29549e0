import { Select } from "../../ui/field.tsx";
import { FilterField } from "../../ui/filter-field.tsx";

/** Search text and a select above a list, both kept in the URL. */
export function ListFilter({
  what,
  search,
  show,
  choices,
  onChange,
}: {
  /** Plural noun: "features". */
  what: string;
  search: string | undefined;
  /** Defaults to the first choice. */
  show: string | undefined;
  choices: readonly { value: string; label: string }[];
  onChange: (changed: { search: string } | { show: string }) => void;
}) {
  return (
    <search className="flex flex-wrap gap-2">
      <div className="w-full sm:w-72">
        <FilterField
          label={`Filter ${what}`}
          type="search"
          placeholder={`Filter ${what}`}
          value={search ?? ""}
          onFilter={(text) => onChange({ search: text })}
        />
      </div>
      <div className="w-full sm:w-44">
        <Select
          label={`Which ${what}`}
          isLabelHidden
          value={show ?? choices[0]?.value}
          onChange={({ target }) => onChange({ show: target.value })}
          options={choices}
        />
      </div>
    </search>
  );
}

/** Whether the texts contain all words of the search. */
export function matches(search: string | undefined, ...texts: readonly (string | null)[]): boolean {
  const text = texts.join(" ").toLowerCase();
  return (search ?? "")
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
