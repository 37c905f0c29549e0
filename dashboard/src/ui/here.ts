import { createContext, useContext } from "react";

type Environment = "test" | "live";

/** The environment that all within belongs to; null outside of any. */
export const Here = createContext<Environment | null>(null);

const EDGES = { test: "edge-test", live: "edge-live" } as const;

/** The coloured edge that says which it is. */
export function useEdge(): string | null {
  const environment = useContext(Here);
  return environment === null ? null : EDGES[environment];
}
