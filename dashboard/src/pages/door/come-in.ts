import { queryClient } from "../../api/query-client.ts";
import { type Session, sessionQuery } from "../../api/session.ts";

/** From here on it is somebody else's view: nothing read before may be shown. */
export function comeIn(session: Session): void {
  queryClient.clear();
  queryClient.setQueryData(sessionQuery.queryKey, session);
}
