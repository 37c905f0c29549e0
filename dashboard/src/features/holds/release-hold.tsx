import { refresh, useWrite } from "../../api/use-write.ts";
import { overageHeldIn } from "../../format/holds.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
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
      onSuccess: ({ credits }) => {
        notify("Hold released", `${countOf(credits, "credit")} no longer held`);
        onClose();
      },
      // After an error too, because another request may have ended the hold.
      onSettled: () => refresh("customers"),
    },
  );
  const held = formatCharge({ credits: creditsHeld, overage: overageHeldIn({ items }) });
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
      action={creditsHeld === 0 ? "Release hold" : `Release ${countOf(creditsHeld, "credit")}`}
      tone="danger"
      onClose={onClose}
    >
      <ul className="flex list-disc flex-col gap-1 pl-5">
        <li>The customer can spend the credits again, unless they have expired.</li>
        <li>A settlement that arrives later is rejected, so the work is not charged.</li>
        <li>This cannot be undone.</li>
      </ul>
      <p className="text-muted">
        If you do nothing, the credits are {onExpiry === "charge" ? "charged in full" : "released"} on{" "}
        <Time at={expiresAt} />.
      </p>
    </WriteDialog>
  );
}
