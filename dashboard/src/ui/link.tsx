import { createLink } from "@tanstack/react-router";
import type { ComponentProps, ReactNode } from "react";

function TextAnchor(anchor: ComponentProps<"a">) {
  return (
    <a
      {...anchor}
      className="font-medium text-accent underline decoration-transparent underline-offset-2 hover:decoration-current"
    />
  );
}

/** A link within text or a table. */
export const TextLink = createLink(TextAnchor);

/** Looks like a link within text, and changes what this page shows. */
export function LinkButton({
  label,
  onClick,
  children,
}: {
  /** Where what stands there does not say what happens. */
  label?: string;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      aria-label={label}
      onClick={onClick}
      className="rounded text-left font-medium text-accent underline decoration-transparent underline-offset-2 hover:decoration-current"
    >
      {children}
    </button>
  );
}

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
