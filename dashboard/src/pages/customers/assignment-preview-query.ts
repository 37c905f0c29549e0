import { queryOptions } from "@tanstack/react-query";
import type { Body, Place } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import type { Customer } from "./queries.ts";

export type AssignmentBody = Body<"assignPlan">;
export type AssignmentEffect = { before: Customer; after: Customer };

/**
 * What assigning the plan would do to one customer, by the API's preview for many: its search finds ids that begin with the
 * customer's. Null where so many do that this one is not among the first.
 */
export function assignmentPreviewQuery(
  { projectId, environment }: Place,
  customerId: string,
  { plan, endsAt }: AssignmentBody,
) {
  const place = { projectId, environment };
  return queryOptions({
    queryKey: ["assignment preview", place, customerId, plan, endsAt],
    queryFn: async ({ signal }): Promise<AssignmentEffect | null> => {
      const { sample } = await answerOf(
        api.POST("/manage/v1/projects/{projectId}/{environment}/bulk-assignments/preview", {
          params: { path: place },
          // An earlier end is shown as it would be; the form asks before it is applied.
          body: {
            filter: { search: customerId },
            plan,
            shorten: true,
            ...(endsAt === undefined ? {} : { endsAt }),
          },
          signal,
        }),
      );
      return sample.find(({ before }) => before.customerId === customerId) ?? null;
    },
    enabled: plan !== "",
    staleTime: 0,
    gcTime: 0,
    retry: false,
    meta: { tellsFailures: true },
  });
}

/** Whether they ask for the very same: the plan alone does not say. */
export function isSameAssignment(a: AssignmentBody, b: AssignmentBody): boolean {
  return a.plan === b.plan && a.endsAt === b.endsAt;
}

/** Whether anything would be different afterwards. */
export function isWithoutEffect({ before, after }: AssignmentEffect): boolean {
  return JSON.stringify([before.plan, before.balances]) === JSON.stringify([after.plan, after.balances]);
}
