import { expect, test } from "vitest";
import { createDatabase } from "../../test/harness.ts";
import { Session } from "./session.ts";
import { statement } from "./statement.ts";

test("a session never JIT-compiles a plan, even at extreme cost", async () => {
  const { serviceUrl } = await createDatabase();
  const session = await Session.open({ url: serviceUrl, name: "test", connectTimeoutMs: 10_000 });
  try {
    const { rows } = await session.run(statement("test.read_jit", "select current_setting('jit')"));
    expect(rows).toEqual([["off"]]);
  } finally {
    session.destroy();
  }
});
