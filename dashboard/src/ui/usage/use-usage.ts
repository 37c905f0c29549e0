import { useQuery } from "@tanstack/react-query";
import type { Place } from "../../api/answer.ts";
import { featureNamesQuery, usageQuery } from "../../api/usage.ts";
import { askedOf, type UsageSearch } from "../../words/usage-search.ts";
import { useClock } from "../preferences.ts";
import { showUsage } from "./usage-series.ts";

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** What an address asks for, and the answer. What goes wrong stands where it was asked: the filters stay. */
export function useUsage(place: Place, search: UsageSearch) {
  const clock = useClock();
  const asked = askedOf(search, Date.now(), clock);
  const { data, error } = useQuery(usageQuery(place, asked));
  const { data: names = NO_NAMES } = useQuery(featureNamesQuery(place));
  return {
    asked,
    error,
    shown:
      data === undefined || error !== null
        ? null
        : showUsage(data.usage, { asked: data.asked, names, clock }),
  };
}
