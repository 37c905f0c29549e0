import { answerOf, api } from "../../api/client.ts";
import { pagesOf } from "../../api/pages.ts";

/** All at once, for nearly everybody: who the last owner is can only be told of a whole list. */
export const membersQuery = pagesOf(["members"], (cursor) =>
  answerOf(api.GET("/manage/v1/members", { params: { query: { limit: "200", ...cursor } } })),
);

export const tokensQuery = pagesOf(["tokens"], (cursor) =>
  answerOf(api.GET("/manage/v1/tokens", { params: { query: cursor } })),
);
