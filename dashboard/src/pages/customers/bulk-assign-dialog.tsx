import { UsersRound } from "lucide-react";
import { useState } from "react";
import { useMayActAs } from "../../frame/use-session.ts";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { BulkAssignForm } from "./bulk-assign-form.tsx";
import type { CustomerFilters } from "./queries.ts";

/** One plan for everybody whom the list shows, and those on its further pages. */
export function BulkAssignButton({ filters, isDisabled }: { filters: CustomerFilters; isDisabled: boolean }) {
  const isOperator = useMayActAs("operator");
  const [isOpen, setOpen] = useState(false);
  if (!isOperator) return null;
  const onClose = () => setOpen(false);
  return (
    <>
      <Button tone="quiet" icon={UsersRound} isDisabled={isDisabled} onClick={() => setOpen(true)}>
        Assign a plan to many
      </Button>
      <Dialog isOpen={isOpen} onClose={onClose} isWide title="Assign a plan to many" note={whom(filters)}>
        {filters.balanceBelow === undefined ? (
          <BulkAssignForm filters={filters} onClose={onClose} />
        ) : (
          <>
            <Callout tone="warn" title="Not while the list is narrowed by balance">
              Balances change while plans are assigned, so nobody could say beforehand who is meant. Take that
              filter away, or narrow the list by plan, search or block.
            </Callout>
            <DialogActions>
              <Button onClick={onClose}>Close</Button>
            </DialogActions>
          </>
        )}
      </Dialog>
    </>
  );
}

function whom({ search, plan, blocked }: CustomerFilters): string {
  const said = [
    plan === undefined ? null : `on the plan ${plan}`,
    search === undefined ? null : `found by “${search}”`,
    blocked === undefined ? null : blocked ? "who is blocked" : "who is not blocked",
  ].filter((part) => part !== null);
  return said.length === 0 ? "For every customer of this environment." : `For everybody ${said.join(", ")}.`;
}
