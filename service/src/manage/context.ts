import type { Actor } from "../primitives/actor.ts";
import type { EnvironmentId, ProjectId } from "../primitives/brand.ts";

/** The environment an operation runs in, and the actor that runs it. */
export type Context = {
  readonly projectId: ProjectId;
  readonly environmentId: EnvironmentId;
  readonly actor: Actor;
};
