import type { ApiKey } from "../store/control/api-keys.ts";
import type { ProblemCode } from "./problem.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set by `authenticate`, before any handler of `/v1` runs. */
    apiKey: ApiKey | null;
  }
  interface FastifyReply {
    /** The code of the problem that was answered, for the log and the metrics. */
    problemCode: ProblemCode | null;
    /** Why the answer is no, where it is. */
    denialReason: string | null;
  }
}
