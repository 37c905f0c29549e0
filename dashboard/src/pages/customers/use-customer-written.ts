import { useQueryClient } from "@tanstack/react-query";
import { usePlace } from "../../frame/use-place.ts";
import { customerKey } from "./queries.ts";

/** After a write: everything that is shown about the customer is asked for again, and so are the lists. */
export function useCustomerWritten(customerId: string): () => Promise<void> {
  const queryClient = useQueryClient();
  const { projectId, environment } = usePlace();
  return async () => {
    const place = { projectId, environment };
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: customerKey(place, customerId) }),
      queryClient.invalidateQueries({ queryKey: ["customers", place] }),
    ]);
  };
}
