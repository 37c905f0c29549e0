import { skipToken, useQuery } from "@tanstack/react-query";
import type { Place } from "../../api/answer.ts";
import { queryClient } from "../../api/query-client.ts";

/**
 * A key that was made a moment ago. It stays in this tab's memory until a reload or log-out, so that a look at another page does
 * not lose it; it is written nowhere.
 */
export function keepNewSecret(place: Place, secret: string): void {
  queryClient.setQueryDefaults(["new-secret"], { gcTime: Number.POSITIVE_INFINITY });
  queryClient.setQueryData(keyOf(place), secret);
}

export function useNewSecret(place: Place): string | null {
  const { data } = useQuery<string>({ queryKey: keyOf(place), queryFn: skipToken });
  return data ?? null;
}

const keyOf = ({ projectId, environment }: Place) => ["new-secret", projectId, environment];
