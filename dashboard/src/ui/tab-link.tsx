import { createLink } from "@tanstack/react-router";
import type { ComponentProps, ReactNode } from "react";

/** Tabs that are pages: each has an address, and back goes back. */
export function TabLinks({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className="-mb-2 flex gap-1 overflow-x-auto border-b border-line">
      {children}
    </nav>
  );
}

function TabAnchor(anchor: ComponentProps<"a">) {
  return (
    <a
      {...anchor}
      className="border-b-2 border-transparent px-1.5 py-2 text-form font-medium whitespace-nowrap text-muted hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink sm:px-3"
    />
  );
}

export const TabLink = createLink(TabAnchor);
