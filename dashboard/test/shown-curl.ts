import type { Page } from "playwright-core";
import { post, type Reply } from "../../service/test/harness.ts";

/** Parses a curl call shown on the page and sends its request. */
export async function runShownCurl(page: Page, label: string): Promise<Reply & { secret: string }> {
  const text = (await page.getByLabel(label, { exact: true }).textContent()) ?? "";
  const [, url = ""] = text.match(/^curl (\S+) \\$/m) ?? [];
  const [, secret = ""] = text.match(/-H "Authorization: Bearer (\S+)" \\$/m) ?? [];
  const [, body = ""] = text.match(/-d '(.+)'$/m) ?? [];
  return { ...(await post(url, secret, body)), secret };
}
