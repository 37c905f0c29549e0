import { Dialog } from "../../ui/dialog.tsx";
import { ImportForm } from "./import-form.tsx";

export function ImportDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      isWide
      title="Import customers"
      note="From a CSV file with plans and opening balances. It is checked row by row first, and nothing is written before you say so."
    >
      <ImportForm onClose={onClose} />
    </Dialog>
  );
}
