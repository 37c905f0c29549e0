import { Select } from "../../ui/field.tsx";
import { FilterField } from "../../ui/filter-field.tsx";

/** Text and a choice, above a list. What is chosen stands in the address. */
export function ListFilter({
  what,
  search,
  onSearch,
  show,
  onShow,
  choices,
}: {
  /** In the plural: "features". */
  what: string;
  search: string | undefined;
  onSearch: (text: string | undefined) => void;
  show: string;
  onShow: (choice: string) => void;
  choices: readonly { value: string; label: string }[];
}) {
  return (
    <search className="flex flex-wrap gap-2">
      <div className="w-full sm:w-72">
        <FilterField
          label={`Filter ${what}`}
          type="search"
          placeholder={`Filter ${what}`}
          value={search ?? ""}
          onFilter={(text) => onSearch(text === "" ? undefined : text)}
        />
      </div>
      <div className="w-full sm:w-44">
        <Select
          label={`Which ${what}`}
          isLabelHidden
          value={show}
          onChange={({ target }) => onShow(target.value)}
          options={choices}
        />
      </div>
    </search>
  );
}

/** What the address says, read with care: anybody can write anything there. */
export function readText(search: Record<string, unknown>, name: string): string | undefined {
  const value = search[name];
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  return text === "" ? undefined : text;
}

/** Only what the choice knows. */
export function readChoice<const T extends string>(
  search: Record<string, unknown>,
  name: string,
  choices: readonly T[],
): T | undefined {
  return choices.find((choice) => choice === search[name]);
}

/** Whether all the words stand somewhere in the texts. */
export function matches(search: string | undefined, ...texts: readonly (string | null)[]): boolean {
  const text = texts.join(" ").toLowerCase();
  return (search ?? "")
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
