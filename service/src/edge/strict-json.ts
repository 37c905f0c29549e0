const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const BLANK = 0x20;
/** Only this many names are searched for the duplicate, to bound the cost of a hostile body. */
const NAMES_MAX = 200;
const NAME_LENGTH_MAX = 120;
const BYTE_ORDER_MARK = 0xfeff;

type StrictJson =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "refused"; readonly why: string };

/**
 * Parses JSON, and rejects duplicate names and names that could poison a prototype. `JSON.parse` silently keeps the last of several
 * duplicates, and some other parsers keep the first. Makes one pass over the text and one over the value, so parsing never takes
 * much longer than `JSON.parse` alone.
 */
export function parseStrictJson(text: string): StrictJson {
  let value: unknown;
  try {
    value = JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch {
    return refuse(
      text === "" ? "The body is empty; send a JSON object." : "The body could not be parsed as JSON.",
    );
  }
  const members = countMembers(value);
  if (members === null) return refuse("The body contains a key such as `__proto__`, which is not accepted.");
  // The two counts differ only if a name is duplicated.
  if (members === countNames(text)) return { kind: "value", value };
  const name = findDuplicateName(text);
  return refuse(
    name === null
      ? "An object in the body contains the same member more than once."
      : `The body contains the \`${name.slice(0, NAME_LENGTH_MAX).toWellFormed()}\` member more than once in the same object.`,
  );
}

function refuse(why: string): StrictJson {
  return { kind: "refused", why };
}

/** Counts the names in valid JSON. A name is a string followed by a colon. Searching for quotes skips everything else quickly. */
function countNames(text: string): number {
  let names = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    at = endOfString(text, at) + 1;
    while (text.charCodeAt(at) <= BLANK) at += 1;
    if (text.charCodeAt(at) === COLON) names += 1;
  }
  return names;
}

/**
 * Counts the members of all objects. Null if a member could poison a prototype. Not recursive, because a body can have thousands of
 * levels.
 */
function countMembers(value: unknown): number | null {
  let members = 0;
  const rest: unknown[] = [value];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (Array.isArray(next)) {
      for (const item of next) if (isObject(item)) rest.push(item);
    } else if (isObject(next)) {
      for (const name in next) {
        members += 1;
        const member = next[name];
        if (name === "__proto__") return null;
        if (!isObject(member)) continue;
        if (name === "constructor" && Object.hasOwn(member, "prototype")) return null;
        rest.push(member);
      }
    }
  }
  return members;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** The first name that occurs twice in one object. Escapes are resolved before names are compared. */
function findDuplicateName(text: string): string | null {
  const open: Set<string>[] = [];
  let string = "";
  let names = 0;
  for (let at = 0; at < text.length && names < NAMES_MAX; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      string = text.slice(at, end + 1);
      at = end;
    } else if (code === BRACE) open.push(new Set());
    else if (code === BRACE_END) open.pop();
    else if (code === COLON) {
      const name: string = string.includes("\\") ? JSON.parse(string) : string.slice(1, -1);
      if (open.at(-1)?.has(name)) return name;
      open.at(-1)?.add(name);
      names += 1;
    }
  }
  return null;
}

/** Index of the closing quote. Scans each character only if the next quote follows a backslash. */
function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  if (text.charCodeAt(at - 1) !== BACKSLASH) return at;
  for (at = start + 1; text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at += 1;
  return at;
}
