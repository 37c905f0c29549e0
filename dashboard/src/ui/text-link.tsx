import { createLink } from "@tanstack/react-router";
import type { ComponentProps } from "react";

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
