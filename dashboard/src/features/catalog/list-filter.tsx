import type { LucideIcon } from "lucide-react";
import { countOf } from "../../format/numbers.ts";
import { Select } from "../../ui/field.tsx";
import { FilterField } from "../../ui/filter-field.tsx";
import { EmptyState } from "../../ui/page.tsx";

/** Filter options for features and plans. Archived items are hidden by default. */
export const ARCHIVE_CHOICES = [
  { value: "offered", label: "Active" },
  { value: "archived", label: "Archived" },
  { value: "all", label: "All" },
] as const;

type Filter = { readonly search?: string; readonly show?: "archived" | "all" };
type Archivable = { readonly key: string; readonly name: string; readonly archivedAt: string | null };

export function isShown({ key, name, archivedAt }: Archivable, { search, show }: Filter): boolean {
  return matches(search, key, name) && (show === "all" || (archivedAt !== null) === (show === "archived"));
}

/** Shown if the filter hides all items. */
export function NoMatches({ icon, count, noun }: { icon: LucideIcon; count: number; noun: string }) {
  return (
    <EmptyState icon={icon} title="No matches">
      Change the filter to see {count > 1 && "all "}
      {countOf(count, noun)}.
    </EmptyState>
  );
}

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
  search?: string | undefined;
  /** Defaults to the first choice. */
  show?: string | undefined;
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
          label={`Show ${what}`}
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
