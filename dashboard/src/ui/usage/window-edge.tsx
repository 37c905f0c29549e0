import type { ReactNode } from "react";
import { countOf } from "../../format/numbers.ts";
import { TextLink } from "../button.tsx";
import { Callout } from "../callout.tsx";
import { Time } from "../time.tsx";

const DAY_MS = 86_400_000;

/** Where the history window ends a list or a chart: that it does, why, and who can change it. */
export function WindowEdge({
  windowStart,
  title = "History begins here",
  children,
}: {
  windowStart: string;
  title?: string;
  children?: ReactNode;
}) {
  const days = Math.round((Date.now() - Date.parse(windowStart)) / DAY_MS);
  return (
    <Callout title={title}>
      <p>
        Your workspace keeps {countOf(days, "day")} to look at, which is back to <Time at={windowStart} />.
        What happened before is kept and counts in every balance, but is not shown. {children}{" "}
        <TextLink to="/workspace/settings">The window is set in the settings</TextLink>.
      </p>
    </Callout>
  );
}
