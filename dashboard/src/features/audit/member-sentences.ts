import { countOf } from "../../format/numbers.ts";
import { withArticle } from "../../format/terms.ts";
import { countIn, type Entry, listIn, textIn } from "./entry.ts";
import { type Describe, type Piece, strong, subject } from "./piece.ts";

/** Sentences for actions on members, sessions, links and second factors. */
export const MEMBER_SENTENCES: Readonly<Record<string, Describe>> = {
  "member.created": (entry) => ["created the first owner, ", subject(entry)],
  "member.invited": (entry) => [
    "invited ",
    subject(entry),
    ` as ${withArticle(textIn(entry.after, "role") ?? "member of specific projects")}`,
  ],
  "member.invited_again": (entry) => ["created a new invitation link for ", subject(entry)],
  "member.joined": () => ["accepted the invitation"],
  "member.signed_in": ({ after }) => [
    "logged in",
    LOGGED_IN_WITH[textIn(after, "openedWith") ?? ""] ?? "",
    ...fromAddress(after),
  ],
  "member.signed_out": ({ after }) => [
    after?.["everywhere"] === true ? "logged out everywhere" : "logged out",
    ...fromAddress(after),
  ],
  "member.session_ended": ({ after }) => ["ended one of their sessions", ...requestedFrom(after)],
  "member.other_sessions_ended": ({ after }) => [
    "ended ",
    strong(countOf(countIn(after, "ended") ?? 0, "other session")),
    ...requestedFrom(after),
  ],
  "member.sign_in_failed": (entry) => [
    "rejected ",
    attemptsOf(entry, "login attempt"),
    " for ",
    subject(entry),
    ...fromAddresses(entry),
  ],
  "member.sign_on_failed": (entry) => [
    "rejected ",
    attemptsOf(entry, "sign-in"),
    " with single sign-on for ",
    subject(entry),
    ...fromAddresses(entry),
    ...becauseOf(entry),
  ],
  "member.access_ended": (entry) => ["ended all access for ", subject(entry), ...becauseOf(entry)],
  "member.sign_on_connected": () => ["connected single sign-on"],
  "member.sign_on_disconnected": () => ["disconnected single sign-on"],
  "member.password_refused": (entry) => [
    "rejected ",
    attemptsOf(entry, "password change"),
    " for ",
    subject(entry),
    ...fromAddresses(entry),
  ],
  "member.second_factor_asked": (entry) => [
    "accepted the password or link of ",
    subject(entry),
    " in ",
    attemptsOf(entry, "login attempt"),
    ...fromAddresses(entry),
    ", and asked for a second factor",
  ],
  "member.second_factor_failed": (entry) => [
    "rejected ",
    attemptsOf(entry, "second factor"),
    " for ",
    subject(entry),
    ...fromAddresses(entry),
  ],
  "member.passkey_refused": (entry) => [
    "rejected passkey ",
    strong(textIn(entry.after, "passkey") ?? "?"),
    " of ",
    subject(entry),
    ...fromAddress(entry.after),
    ", because it may have been copied",
  ],
  "member.passkey_added": ({ after }) => ["added passkey ", strong(textIn(after, "passkey") ?? "?")],
  "member.passkey_renamed": ({ before, after }) => [
    "renamed passkey ",
    strong(textIn(before, "passkey") ?? "?"),
    " to ",
    strong(textIn(after, "passkey") ?? "?"),
  ],
  "member.passkey_deleted": ({ before }) => ["deleted passkey ", strong(textIn(before, "passkey") ?? "?")],
  "member.recovery_codes_created": () => ["created new recovery codes"],
  "member.second_factor_reset": (entry) => ["reset the second factor for ", subject(entry)],
  "member.owner_reset": (entry) => [
    "made ",
    subject(entry),
    " an owner, reset their access and created a link to set a password",
  ],
  "member.sign_in_link_made": (entry) => ["created a login link for ", subject(entry)],
  "member.changed": (entry) => roleChange(entry) ?? ["edited ", subject(entry)],
  "member.removed": (entry) => ["removed ", subject(entry)],
  "member.password_changed": () => ["changed their password"],
  "member.password_reset": (entry) => ["reset the password for ", subject(entry)],
  "member.password_link_made": (entry) => ["created a password reset link for ", subject(entry)],
};

/** Nothing for a password or a link alone. */
const LOGGED_IN_WITH: Readonly<Record<string, string>> = {
  passkey: " with a passkey",
  recovery_code: " with a recovery code",
  single_sign_on: " with single sign-on",
};

/** A sentence about new roles. Null if they are unchanged. */
function roleChange(entry: Entry): (Piece | string)[] | null {
  const { before, after } = entry;
  const [was, is] = [textIn(before, "role"), textIn(after, "role")];
  if (was !== is && was !== null && is !== null)
    return ["changed ", subject(entry), `'s role from ${was} to ${is}`];
  const isChanged = JSON.stringify(before?.["projectRoles"]) !== JSON.stringify(after?.["projectRoles"]);
  return was !== is || isChanged ? ["changed the roles of ", subject(entry)] : null;
}

function fromAddress(after: Entry["after"]): (Piece | string)[] {
  const address = textIn(after, "address");
  return address === null ? [] : [" from ", strong(address)];
}

/** The address of the request, not the addresses of the sessions that the request ended. */
function requestedFrom(after: Entry["after"]): (Piece | string)[] {
  const from = fromAddress(after);
  return from.length === 0 ? [] : [" (request", ...from, ")"];
}

function attemptsOf({ after }: Entry, noun: string): Piece {
  return strong(countOf(countIn(after, "attempts") ?? 1, noun));
}

function fromAddresses({ after }: Entry): (Piece | string)[] {
  const [first, ...others] = listIn(after, "addresses");
  if (first === undefined) return [];
  const more = others.length + (countIn(after, "moreAddresses") ?? 0);
  return [
    " from ",
    strong(first),
    ...(more === 0 ? [] : [` and ${countOf(more, "other address", "other addresses")}`]),
  ];
}

/** Why single sign-on failed. */
function becauseOf({ after }: Entry): string[] {
  const reason = textIn(after, "reason");
  if (reason === null) return [];
  return [`: ${reason === "connect_first" ? "account not connected" : reason.replaceAll("_", " ")}`];
}
