import { forgetEverything } from "../../api/leave.ts";
import { queryClient } from "../../api/query-client.ts";
import { type Session, sessionQuery } from "../../api/session.ts";

export function comeIn(session: Session): void {
  forgetEverything();
  queryClient.setQueryData(sessionQuery.queryKey, session);
}
