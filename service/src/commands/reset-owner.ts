import { isEmail } from "../manage/people/email.ts";
import { resetOwner } from "../manage/people/reset-owner.ts";
import { formatTimestamp } from "../words/timestamp.ts";
import { withPool } from "./connect.ts";

/** For an installation whose owners have all lost their way in. Whoever can reach the database may run it. */
export async function resetOwnerCommand(options: {
  databaseUrl: string;
  email: string;
  print: (line: string) => void;
}): Promise<void> {
  if (!isEmail(options.email)) throw new Error(`not an email address: ${JSON.stringify(options.email)}`);
  const email = options.email.toLowerCase();
  const { kind, link } = await withPool(options.databaseUrl, (pool) => resetOwner(pool, email));
  const done = {
    created: `Created ${email} as an owner.`,
    promoted: `${email} is an owner now. All their sessions and earlier links have ended.`,
    reset: `${email} is an owner. All their sessions and earlier links have ended.`,
  };
  options.print(done[kind]);
  options.print(
    `Open this path on your installation to set a password, before ${formatTimestamp(link.expiresAt)}:`,
  );
  options.print(`  ${link.path}`);
}
