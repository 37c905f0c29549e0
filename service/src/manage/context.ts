import type { Actor } from "../primitives/actor.ts";
import type { EnvironmentId, ProjectId } from "../primitives/brand.ts";

/** Where an operation takes place, and who does it. */
export type Context = {
  readonly projectId: ProjectId;
  readonly environmentId: EnvironmentId;
  readonly actor: Actor;
};
