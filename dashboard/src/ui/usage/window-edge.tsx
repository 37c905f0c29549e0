import type { ReactNode } from "react";
import { countOf } from "../../format/numbers.ts";
import { TextLink } from "../button.tsx";
import { Callout } from "../callout.tsx";
import { Time } from "../time.tsx";

const DAY_MS = 86_400_000;

/** Explains where the history window cuts off a list or chart. */
export function WindowEdge({
  windowStart,
  title = "History starts here",
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
        Your workspace shows {countOf(days, "day")} of history, back to <Time at={windowStart} />. Older data
        is kept but hidden. {children}{" "}
        <TextLink to="/workspace/settings">Change the window in Settings</TextLink>.
      </p>
    </Callout>
  );
}
