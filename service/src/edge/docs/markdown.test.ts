import { expect, test } from "vitest";
import { renderMarkdown } from "./markdown.ts";

const render = (source: string): string =>
  renderMarkdown(source, (href) => (href.startsWith("src/") ? null : `/docs/${href}`)).html;

test("HTML in Markdown is shown as text, and comments are removed", () => {
  expect(render("a <b onclick=x>b</b>")).toBe("<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>\n");
  expect(render("<script>alert(1)</script>\n")).not.toContain("<script");
  expect(render("<!-- not run: needs Stripe -->\n\ntext")).toBe("<p>text</p>\n");
  expect(render("<!-- a --><img src=x onerror=y>")).not.toContain("<img");
  expect(render('```"><script>\n</code><script>\n```')).not.toContain("<script");
});

test("only resolved links remain links", () => {
  expect(render("[a](b.md)")).toBe('<p><a href="/docs/b.md">a</a></p>\n');
  expect(render("[a](../src/b.ts) [c](src/b.ts)")).toContain('<span title="src/b.ts">c</span>');
  expect(render("[a](javascript:alert(1))")).not.toContain("<a");
  expect(render('[a](b.md "x\\" onclick=\\"y")')).toBe('<p><a href="/docs/b.md">a</a></p>\n');
});

test("headings get the same anchors as on GitHub, and sections contain their text", () => {
  const { html, sections } = renderMarkdown(
    "# The `key`, again\n\nOne\ntwo.\n\n## Why?\n\n- a\n- b\n\n## Why?\n\n```sh\ncurl\n```\n",
    (href) => href,
  );
  expect(sections.map(({ level, anchor, text }) => [level, anchor, text])).toEqual([
    [1, "the-key-again", "One two."],
    [2, "why", "a b"],
    [2, "why-1", "curl"],
  ]);
  expect(html).toContain('<h2 id="why-1">Why?</h2>');
});
