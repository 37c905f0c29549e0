import type { Context } from "../../../service/src/manage/context.ts";

/** Where the run takes place: everything but the processes, which come and go. */
export type Installation = {
  readonly ownerUrl: string;
  /** As the role a careful installation runs the service under: it may not rewrite history. */
  readonly serviceUrl: string;
  /** Of an API key. */
  readonly secret: string;
  readonly context: Context;
};
