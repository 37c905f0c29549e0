import { refresh, useWrite } from "../../api/use-write.ts";
import { overageHeldIn } from "../../format/holds.ts";
import { formatCount } from "../../format/numbers.ts";
import { formatCharge } from "../../format/overage.ts";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Time } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import type { CustomerScope } from "../customers/queries.ts";
import type { Hold } from "../ledger/queries.ts";

/** Releases an open hold by hand after confirmation. */
export function ReleaseDialog({
  customerScope,
  hold: { holdId, creditsHeld, items, openedAt, expiresAt, onExpiry },
  names,
  onClose,
}: {
  customerScope: CustomerScope;
  hold: Hold;
  /** Names of features by key. */
  names: ReadonlyMap<string, string>;
  onClose: () => void;
}) {
  const release = useWrite(
    "post",
    "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/holds/{holdId}/release",
    {
      onSuccess: ({ credits, overageCredits: overage }) => {
        notify("Hold released", `${formatCharge({ credits, overage })} no longer held`);
        onClose();
      },
      // Refresh even after an error, because another request may have ended the hold.
      onSettled: () => refresh("customers"),
    },
  );
  const overage = overageHeldIn({ items });
  const held = formatCharge({ credits: creditsHeld, overage });
  return (
    <WriteDialog
      title="Release hold"
      note={
        <>
          {held} for{" "}
          {items
            .map(({ feature, quantity }) => `${names.get(feature) ?? feature} × ${formatCount(quantity)}`)
            .join(", ")}
          , held since <Time at={openedAt} />.
        </>
      }
      write={release}
      request={{ params: { path: { ...customerScope, holdId } }, body: {} }}
      action={creditsHeld + overage === 0 ? "Release hold" : `Release ${held}`}
      tone="danger"
      onClose={onClose}
    >
      <ul className="flex list-disc flex-col gap-1 pl-5">
        {(creditsHeld > 0 || overage === 0) && (
          <li>The customer can spend the credits again, unless they have expired.</li>
        )}
        {overage > 0 && <li>The overage can be used again, unless its period has ended.</li>}
        <li>A settlement that arrives later is rejected, so the work is not charged.</li>
        <li>This cannot be undone.</li>
      </ul>
      <p className="text-muted">
        If you do nothing, the hold is {onExpiry === "charge" ? "charged in full" : "released"} on{" "}
        <Time at={expiresAt} />.
      </p>
    </WriteDialog>
  );
}
