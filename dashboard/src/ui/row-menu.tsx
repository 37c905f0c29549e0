import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";
import { Menu } from "./menu.tsx";

/** What can be done with one line of a list. */
export function RowMenu({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={label}
          title={label}
          className="inline-flex size-8 items-center justify-center rounded-md text-muted transition-colors hover:bg-hover hover:text-ink data-popup-open:bg-hover"
        >
          <Ellipsis className="size-4" aria-hidden />
        </button>
      }
    >
      {children}
    </Menu>
  );
}
