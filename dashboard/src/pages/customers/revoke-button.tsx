import { Suspense, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { GRANT_WORDS } from "../../words/ledger-words.ts";
import { countOf } from "../../words/numbers.ts";
import type { Whose } from "./audit-actors.ts";
import type { Grant } from "./ledger-queries.ts";
import { RevokeForm } from "./revoke-form.tsx";

/** Takes back what is left of a grant, once that was read and confirmed. */
export function RevokeButton({ whose, grant }: { whose: Whose; grant: Grant }) {
  const [isOpen, setOpen] = useState(false);
  // As it was when the dialog opened: what happens to it meanwhile is said there, and does not close it.
  const [opened, setOpened] = useState(grant);
  const close = () => setOpen(false);
  function open(): void {
    setOpened(grant);
    setOpen(true);
  }
  return (
    <>
      {grant.remaining > 0 && grant.revokedAt === null && (
        <span className="-my-1.5 -mr-2 inline-flex">
          <Button tone="quiet" onClick={open}>
            Revoke<span className="sr-only"> grant {grant.grant}</span>
          </Button>
        </span>
      )}
      <Dialog
        isOpen={isOpen}
        onClose={close}
        title="Revoke a grant"
        note={`${GRANT_WORDS[grant.kind]}, grant ${grant.grant}, of ${countOf(grant.credits, "credit")}.`}
      >
        <Suspense fallback={<SkeletonRows rows={3} />}>
          <RevokeForm whose={whose} grant={opened} onDone={close} />
        </Suspense>
      </Dialog>
    </>
  );
}
