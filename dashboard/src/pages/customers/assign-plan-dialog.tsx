import { Dialog } from "../../ui/dialog.tsx";
import { AssignPlanForm } from "./assign-plan-form.tsx";
import type { Customer } from "./queries.ts";

export function AssignPlanDialog({
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
      title={`Assign a plan to ${customer.name ?? customer.customerId}`}
    >
      <AssignPlanForm customer={customer} onClose={onClose} />
    </Dialog>
  );
}
