import { Badge } from "../../ui/badge.tsx";
import type { PlanSummary } from "./queries.ts";

export function PlanBadges({
  plan: { isDefault, hasDraft, archivedAt, latest },
}: {
  plan: Pick<PlanSummary, "isDefault" | "hasDraft" | "archivedAt"> & { latest: object | null };
}) {
  return (
    <>
      {isDefault && <Badge tone="accent">Default plan</Badge>}
      {hasDraft && <Badge tone="warn">{latest === null ? "Draft only" : "Draft"}</Badge>}
      {archivedAt !== null && <Badge>Archived</Badge>}
    </>
  );
}
