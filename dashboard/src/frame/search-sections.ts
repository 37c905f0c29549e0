import type { Place } from "../api/answer.ts";
import type { FoundGroup } from "./search-everything.ts";
import { PLACE_SECTIONS, WORKSPACE_SECTIONS } from "./sections.ts";

/** The pages themselves, by name. */
export function sectionsAsFound(text: string, place: Place | null): FoundGroup[] {
  const isWanted = ({ name }: { name: string }): boolean => name.toLowerCase().includes(text.toLowerCase());
  const items = [
    ...(place === null
      ? []
      : PLACE_SECTIONS.filter(isWanted).map(({ name, to }) => ({
          id: to,
          title: name,
          note: null,
          environment: place.environment,
          link: { to, params: place },
        }))),
    ...WORKSPACE_SECTIONS.filter(isWanted).map(({ name, to }) => ({
      id: to,
      title: name,
      note: null,
      environment: null,
      link: { to },
    })),
  ];
  return items.length === 0 ? [] : [{ value: "Go to", items }];
}
