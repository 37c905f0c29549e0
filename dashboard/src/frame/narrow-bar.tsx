import { Dialog } from "@base-ui/react/dialog";
import { useRouterState } from "@tanstack/react-router";
import { Menu as MenuIcon, Search, X } from "lucide-react";
import { useEffect, useState } from "react";
import { ENVIRONMENT_NAMES } from "../format/environments.ts";
import { Badge } from "../ui/badge.tsx";
import { IconButton } from "../ui/button.tsx";
import { Sidebar } from "./sidebar.tsx";
import { useOptionalScope } from "./use-scope.ts";

/** Top bar of narrow windows: a menu button and the environment. */
export function NarrowBar({ onSearch, onHelp }: { onSearch: () => void; onHelp: () => void }) {
  const scope = useOptionalScope();
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.href });
  // biome-ignore lint/correctness/useExhaustiveDependencies: close the menu on every navigation
  useEffect(() => setOpen(false), [path]);
  return (
    <div className="sticky top-0 z-20 flex h-13 items-center gap-2 border-b border-line bg-surface px-3 pt-1 md:hidden">
      <IconButton icon={MenuIcon} label="Open navigation" onClick={() => setOpen(true)} />
      <span className="flex-1 text-form font-semibold">Purser</span>
      {scope !== null && <Badge tone={scope.environment}>{ENVIRONMENT_NAMES[scope.environment]}</Badge>}
      <IconButton icon={Search} label="Search" onClick={onSearch} />
      <Dialog.Root open={isOpen} onOpenChange={setOpen}>
        <Dialog.Portal>
          <Dialog.Backdrop className="fixed inset-0 z-40 bg-scrim" />
          <Dialog.Popup
            aria-label="Navigation"
            className="fixed inset-y-0 left-0 z-50 w-72 max-w-[85vw] bg-surface shadow-over outline-none"
          >
            <Dialog.Close
              aria-label="Close navigation"
              className="absolute top-3 right-3 inline-flex size-8 items-center justify-center rounded-md text-muted hover:bg-hover"
            >
              <X className="size-4" aria-hidden />
            </Dialog.Close>
            <Sidebar
              onSearch={() => {
                setOpen(false);
                onSearch();
              }}
              onHelp={() => {
                setOpen(false);
                onHelp();
              }}
            />
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </div>
  );
}
