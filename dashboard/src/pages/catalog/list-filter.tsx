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
