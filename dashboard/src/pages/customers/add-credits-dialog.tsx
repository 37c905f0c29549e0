import { Dialog } from "../../ui/dialog.tsx";
import { AddCreditsForm } from "./add-credits-form.tsx";
import type { Customer } from "./queries.ts";

/** Each opening is a new wish, with a form of its own. */
export function AddCreditsDialog({
  customer,
  isOpen,
  onClose,
}: {
  customer: Customer;
  isOpen: boolean;
  onClose: () => void;
}) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={`Add credits to ${customer.name ?? customer.customerId}`}
    >
      <AddCreditsForm customer={customer} onClose={onClose} />
    </Dialog>
  );
}
