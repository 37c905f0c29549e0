import { makeApiKey } from "../../service/src/primitives/secret.ts";
import { hostileBodies } from "../../service/test/hostile-bodies.ts";
import { post } from "./attacker.ts";

const ANONYMOUS = [
  { path: "/manage/v1/session", fields: ["email", "password"] },
  { path: "/manage/v1/links", fields: ["token", "password", "name"] },
  { path: "/manage/v1/setup", fields: ["token", "email", "name", "password"] },
  { path: "/no/such/path", fields: ["a"] },
];

/** The most expensive bodies that anyone can send, to where they are read and to where they must not be. */
export function worstRequests(): readonly string[] {
  const anonymous = ANONYMOUS.flatMap(({ path, fields }) =>
    [4_096, 63_000].flatMap((bytes) => hostileBodies(fields, bytes).map(({ text }) => post(path, text))),
  );
  const authorization = `Bearer ${makeApiKey("live")}`;
  const forged = hostileBodies(["customerId"], 63_000).map(({ text }) =>
    post("/v1/consume", text, { authorization }),
  );
  return [...anonymous, ...forged];
}
