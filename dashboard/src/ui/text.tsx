import type { ReactNode } from "react";
import { formatCount } from "../format/numbers.ts";
import { classNames } from "./class-names.ts";

/** IDs and keys. */
export function Mono({ children }: { children: ReactNode }) {
  return <span className="font-mono text-caption wrap-anywhere">{children}</span>;
}

/** An ID cut to fit a table cell; the tooltip shows it in full. */
export function Truncated({ text, width = "max-w-44" }: { text: string; width?: string }) {
  return (
    <span title={text} className={classNames("block truncate font-mono text-caption", width)}>
      {text}
    </span>
  );
}

/** Placeholder for a missing value. */
export function Muted({ children = "–" }: { children?: ReactNode }) {
  return <span className="text-muted">{children}</span>;
}

/** Overage, shown below the credits in a table cell. Shows nothing without overage. */
export function OverageNote({ credits, suffix = "" }: { credits: number; suffix?: string }) {
  return (
    credits > 0 && (
      <div className="text-caption text-muted">
        {formatCount(credits)} overage{suffix}
      </div>
    )
  );
}
