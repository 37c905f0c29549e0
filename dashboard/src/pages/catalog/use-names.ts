import { useSuspenseQuery } from "@tanstack/react-query";
import type { Place } from "../../api/answer.ts";
import type { Names } from "./plan-sentences.ts";
import { featuresQuery, poolsQuery } from "./queries.ts";

/** What the keys of this environment are called. */
export function useNames(place: Place): Names {
  const { data: features } = useSuspenseQuery(featuresQuery(place));
  const { data: pools } = useSuspenseQuery(poolsQuery(place));
  return {
    feature: (key) => features.find((feature) => feature.key === key) ?? { name: key, unit: null },
    pool: (key) => (pools.length < 2 ? null : (pools.find((pool) => pool.key === key)?.name ?? key)),
  };
}
