import { ENVIRONMENT_NAMES } from "../format/environments.ts";
import { Badge } from "../ui/badge.tsx";
import type { Found } from "./search-everything.ts";

/** A search result: its name, below it the ID and other details, and its environment. */
export function FoundText({ title, note, environment }: Pick<Found, "title" | "note" | "environment">) {
  return (
    <>
      <span className="min-w-0 flex-1">
        <span className="block truncate text-form">{title}</span>
        {note !== null && <span className="block truncate text-caption text-muted">{note}</span>}
      </span>
      {environment !== null && <Badge tone={environment}>{ENVIRONMENT_NAMES[environment]}</Badge>}
    </>
  );
}
