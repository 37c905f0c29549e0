import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import type { Whose } from "./audit-actors.ts";
import { customerKey } from "./queries.ts";

/** Around what somebody is about to confirm: all that the page shows of the customer is read anew first, so that the numbers are of now. */
export function ReadAgain({ whose, rows, children }: { whose: Whose; rows: number; children: ReactNode }) {
  const queryClient = useQueryClient();
  const key = customerKey(whose, whose.customerId);
  const { isSuccess, error } = useQuery({
    queryKey: ["read again", ...key],
    queryFn: async () => {
      await queryClient.refetchQueries({ queryKey: key, type: "active" }, { throwOnError: true });
      return true;
    },
    // Once for each opening: what changes later is found out by trying.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  if (error !== null) return <ProblemCallout error={error} />;
  return isSuccess ? children : <SkeletonRows rows={rows} />;
}
