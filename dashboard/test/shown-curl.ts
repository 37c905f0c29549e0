import type { Page } from "playwright-core";
import { post, type Reply } from "../../service/test/harness.ts";

/** What a curl on the page would send: read from its text, character by character what a person would paste. */
export async function runShownCurl(page: Page, label: string): Promise<Reply & { secret: string }> {
  const text = (await page.getByLabel(label, { exact: true }).textContent()) ?? "";
  const [, url = ""] = text.match(/^curl (\S+) \\$/m) ?? [];
  const [, secret = ""] = text.match(/-H "Authorization: Bearer (\S+)" \\$/m) ?? [];
  const [, body = ""] = text.match(/-d '(.+)'$/m) ?? [];
  return { ...(await post(url, secret, body)), secret };
}
