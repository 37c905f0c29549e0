import { Undo2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { mayActAs, roleIn } from "../../api/session.ts";
import { refresh } from "../../api/use-write.ts";
import { ScopedUndoForm } from "../../frame/undo-form.tsx";
import { useSession } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { EnvironmentContext } from "../../ui/page.tsx";
import { type Entry, isUndoable, sentenceId } from "./entry.ts";

/** Undoes the change that an entry recorded, after a preview. */
export function UndoButton({ entry, sentence }: { entry: Entry; sentence: ReactNode }) {
  const { id, projectId, environment } = entry;
  const [isOpen, setOpen] = useState(false);
  const session = useSession();
  if (!isUndoable(entry) || projectId === null || environment === null) return null;
  if (!mayActAs(roleIn(session, { projectId, environment }), "operator")) return null;
  return (
    <span className="-my-1.5 inline-flex">
      <Button tone="quiet" icon={Undo2} onClick={() => setOpen(true)} aria-describedby={sentenceId(entry)}>
        Undo…
      </Button>
      {isOpen && (
        <EnvironmentContext value={environment}>
          <Dialog isOpen isWide onClose={() => setOpen(false)} title="Undo change" note={<>{sentence}.</>}>
            <ScopedUndoForm
              scope={{ projectId, environment }}
              entryId={id}
              onUndone={() => void refresh("customers", "audit")}
              onClose={() => setOpen(false)}
            />
          </Dialog>
        </EnvironmentContext>
      )}
    </span>
  );
}
