import pg from "pg";
import { migrate } from "../../service/src/postgres/migrate.ts";
import { startTemporaryServer } from "../../service/test/temporary-server.ts";
import { Service } from "../manage/service.ts";

/** A service that nobody owns yet, and the link to become its owner that it prints. */
export async function startUnowned(stack: AsyncDisposableStack): Promise<string> {
  const server = await startTemporaryServer("screenshots");
  stack.defer(() => server.stop());
  const databaseUrl = server.url("postgres");
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await migrate(client);
  await client.end();
  const service = await Service.start(databaseUrl, stack);
  const [, setupUrl] = /"setupUrl":"([^"]+)"/.exec(service.lastWords) ?? [];
  if (setupUrl === undefined) throw new Error(`no link to set up was printed: ${service.lastWords}`);
  return setupUrl;
}
