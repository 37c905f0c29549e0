import { useParams } from "@tanstack/react-router";
import type { Place } from "../api/answer.ts";

/** The project and environment of the address. */
export function usePlace(): Place {
  const place = useOptionalPlace();
  if (place === null) throw new Error("this page is within no environment");
  return place;
}

export function useOptionalPlace(): Place | null {
  const { projectId, environment } = useParams({ strict: false });
  return projectId !== undefined && (environment === "test" || environment === "live")
    ? { projectId, environment }
    : null;
}
