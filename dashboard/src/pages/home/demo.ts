import { queryOptions } from "@tanstack/react-query";
import type { Place } from "../../api/answer.ts";
import { listCustomers } from "./queries.ts";

export type SupportCase = { readonly customerId: string; readonly from: string; readonly question: string };

/** What customers of the demo wrote: what they know, and not what happened. */
export const SUPPORT_CASES: readonly SupportCase[] = [
  {
    customerId: "org_1009",
    from: "Fernweh Films",
    question: "We rendered one trailer, and it cost more than we expected. Can you look?",
  },
  {
    customerId: "org_1031",
    from: "Northlight Robotics",
    question:
      "We paid for credits, payment pi_3Sf8QmKz41NorthlightRbt, and are still turned away. Where are they?",
  },
  {
    customerId: "org_1012",
    from: "Brightpath Learning",
    question: "On one day our HD exports stopped working before noon. We are on Pro. Why?",
  },
];

/** `purser dev` puts it into the test environment alone; it is known by the one whose name and id go together. */
export function isDemoQuery(place: Place) {
  return queryOptions({
    queryKey: ["customers", place, "demo"],
    queryFn: async () => {
      if (place.environment !== "test") return false;
      const { items } = await listCustomers(place, { limit: "1", search: "org_1031" });
      return items.some(
        ({ customerId, name }) => customerId === "org_1031" && name === "Northlight Robotics",
      );
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}
