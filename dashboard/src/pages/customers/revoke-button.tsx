import { Suspense, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { GRANT_WORDS } from "../../words/ledger-words.ts";
import { countOf } from "../../words/numbers.ts";
import type { Whose } from "./audit-actors.ts";
import type { Grant } from "./ledger-queries.ts";
import { ReadAgain } from "./read-again.tsx";
import { RevokeForm } from "./revoke-form.tsx";

/** Takes back what is left of a grant, once that was read and confirmed. */
export function RevokeButton({ whose, grant }: { whose: Whose; grant: Grant }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      {grant.remaining > 0 && grant.revokedAt === null && (
        <span className="-my-1.5 -mr-2 inline-flex">
          <Button tone="quiet" onClick={() => setOpen(true)}>
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
          <ReadAgain whose={whose} rows={3}>
            <RevokeForm whose={whose} grant={grant} onDone={close} />
          </ReadAgain>
        </Suspense>
      </Dialog>
    </>
  );
}
