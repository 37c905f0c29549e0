import { Toast } from "@base-ui/react/toast";
import { X } from "lucide-react";
import type { ReactNode } from "react";

const manager = Toast.createToastManager();

const TIMEOUT_MS = 6_000;
/** Enough time to read the message and reach its button. */
const ACTION_TIMEOUT_MS = 12_000;

/** Confirms an action. Errors are shown next to the action instead, and stay visible. */
export function notify(
  title: string,
  description?: string,
  action?: { readonly name: string; readonly run: () => void },
): void {
  const id = manager.add({
    title,
    ...(description === undefined ? {} : { description }),
    ...(action === undefined
      ? {}
      : {
          timeout: ACTION_TIMEOUT_MS,
          actionProps: {
            children: action.name,
            onClick: () => {
              manager.close(id);
              action.run();
            },
          },
        }),
  });
}

export function Toasts({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider toastManager={manager} timeout={TIMEOUT_MS}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 z-60 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className="rounded-lg border border-line bg-surface p-3 pr-10 shadow-over transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0"
    >
      <Toast.Title className="text-form font-semibold" />
      <Toast.Description className="text-muted" />
      {toast.actionProps !== undefined && (
        <Toast.Action className="mt-2 inline-flex h-7 items-center rounded-md border border-line bg-surface px-2.5 text-body font-medium hover:bg-hover" />
      )}
      <Toast.Close
        aria-label="Dismiss"
        className="absolute top-2 right-2 inline-flex size-6 items-center justify-center rounded text-muted hover:bg-hover"
      >
        <X className="size-3.5" aria-hidden />
      </Toast.Close>
    </Toast.Root>
  ));
}
