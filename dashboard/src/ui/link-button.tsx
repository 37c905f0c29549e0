import type { ReactNode } from "react";

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
