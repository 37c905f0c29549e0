import MarkdownIt, { type Token } from "markdown-it";

/** Part of a page from one heading to the next, as plain text. */
export type Section = {
  readonly level: number;
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
};

export type Rendered = { readonly html: string; readonly sections: readonly Section[] };

/** Returns the URL of a link's target. Null if the target is not served, in which case only the link's text is shown. */
export type LinkResolver = (href: string) => string | null;

const COMMENT = /^<!--[\s\S]*?-->\s*$/;

// HTML is parsed only to drop comments. The rules below escape all other HTML.
const markdown = new MarkdownIt({ html: true, linkify: false, typographer: false });
const { escapeHtml } = markdown.utils;

Object.assign(markdown.renderer.rules, {
  html_block: showUnlessComment,
  html_inline: showUnlessComment,
  table_open: () => '<div class="table" tabindex="0"><table>\n',
  table_close: () => "</table></div>\n",
  fence: (tokens: Token[], index: number) => {
    const { content = "", info = "" } = tokens[index] ?? {};
    const language = info.trim().split(/\s/)[0] ?? "";
    const label = language === "" ? "" : ` data-language="${escapeHtml(language)}"`;
    return `<pre tabindex="0"${label}><code>${escapeHtml(content)}</code></pre>\n`;
  },
});

export { escapeHtml };

/** Renders our own Markdown. HTML in the source is shown as text, and only resolved links remain links. */
export function renderMarkdown(source: string, resolve: LinkResolver): Rendered {
  const tokens = markdown.parse(source, {});
  const sections: { level: number; heading: string; anchor: string; text: string }[] = [];
  const anchorOf = createAnchors();
  for (const [index, token] of tokens.entries()) {
    const inline = tokens[index + 1];
    if (token.type === "heading_open" && inline !== undefined) {
      const heading = textOf(inline);
      const anchor = anchorOf(heading);
      token.attrSet("id", anchor);
      sections.push({ level: Number(token.tag.slice(1)), heading, anchor, text: "" });
    }
    const isHeading = tokens[index - 1]?.type === "heading_open";
    const current = sections.at(-1);
    if (current !== undefined && !isHeading) current.text += `${textOf(token)} `;
    if (token.children !== null) resolveLinks(token.children, resolve);
  }
  const html = markdown.renderer.render(tokens, markdown.options, {});
  return {
    html,
    sections: sections.map((part) => ({ ...part, text: part.text.replace(/\s+/g, " ").trim() })),
  };
}

/** Generates the same anchors as GitHub. A repeated heading gets a number. */
function createAnchors(): (heading: string) => string {
  const seen = new Map<string, number>();
  return (heading) => {
    const plain = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
      .replaceAll(" ", "-");
    const count = seen.get(plain) ?? 0;
    seen.set(plain, count + 1);
    return count === 0 ? plain : `${plain}-${count}`;
  };
}

/** The visible text of an inline token or a code block. Empty for other tokens. */
function textOf({ type, content, children }: Token): string {
  if (type === "fence" || type === "code_block") return content;
  const parts = (type === "inline" ? (children ?? []) : []).map((child) => {
    if (child.type === "softbreak" || child.type === "hardbreak") return " ";
    return child.type === "text" || child.type === "code_inline" ? child.content : "";
  });
  return parts.join("");
}

/** Rewrites links and images in place. A link to a file that is not served becomes a `span` with the file's path as its title. */
function resolveLinks(children: readonly Token[], resolve: LinkResolver): void {
  const isServed: boolean[] = [];
  for (const token of children) {
    if (token.type === "image") token.attrSet("src", resolve(String(token.attrGet("src"))) ?? "");
    if (token.type === "link_open") {
      const href = String(token.attrGet("href"));
      const target = resolve(href);
      isServed.push(target !== null);
      token.attrs = target === null ? [["title", href.replace(/^(\.\.\/)+/, "")]] : [["href", target]];
      if (target === null) token.tag = "span";
    }
    if (token.type === "link_close" && isServed.pop() === false) token.tag = "span";
  }
}

function showUnlessComment(tokens: Token[], index: number): string {
  const { content = "" } = tokens[index] ?? {};
  return COMMENT.test(content) ? "" : escapeHtml(content);
}
