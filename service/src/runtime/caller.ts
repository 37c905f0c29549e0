import type { ApiKey } from "../store/control/api-keys.ts";

/** In whose name a request is executed: all that is needed of an API key once it was let in. */
export type Caller = Pick<
  ApiKey,
  "projectId" | "environmentId" | "environmentKind" | "cell" | "metadataLimits"
>;
