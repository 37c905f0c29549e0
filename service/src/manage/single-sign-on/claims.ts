import { ROLES } from "../../primitives/role.ts";
import type { SignOnFailure } from "./failures.ts";
import { type ClaimedRole, GOOGLE, type SignOnSettings } from "./settings.ts";

/** Claims of an ID token or of the user info endpoint. */
export type Claims = Readonly<Record<string, unknown>>;

/** A person, as the provider describes them. */
export type Person = {
  readonly issuer: string;
  readonly subject: string;
  /** In lower case. Null if the provider does not send an email, or sends one with letters outside ASCII. */
  readonly email: string | null;
  readonly isEmailVerified: boolean;
  /** The values of the role claim. */
  readonly roleValues: readonly string[];
  /** Google's name for the company that manages the account. Null for a personal account and other providers. */
  readonly hostedDomain: string | null;
};

/** Whether the ID token lacks claims that the user info endpoint may have. */
export function needsUserInfo({ issuer, roles }: SignOnSettings, idToken: Claims): boolean {
  const lacksEmail = idToken["email"] === undefined || verification(issuer, idToken) === undefined;
  return lacksEmail || (roles !== null && idToken[roles.claim] === undefined);
}

/** Reads the claims. The caller has validated `idToken`, and checked that it and `userInfo` have the same subject. */
export function readPerson(
  { issuer, roles }: SignOnSettings,
  subject: string,
  idToken: Claims,
  userInfo: Claims,
): Person {
  // An address and its verification must come from one source, because the two sources may have different addresses.
  const source = [idToken, userInfo].find((claims) => verification(issuer, claims) !== undefined) ?? {};
  const { email } = source;
  const { hd } = idToken;
  return {
    issuer,
    subject,
    email: typeof email === "string" ? readAscii(email) : null,
    isEmailVerified: isVerified(verification(issuer, source), issuer),
    roleValues: roles === null ? [] : listTexts(idToken[roles.claim] ?? userInfo[roles.claim]),
    hostedDomain: typeof hd === "string" ? hd.toLowerCase() : null,
  };
}

/** Some letters outside ASCII, such as the Kelvin sign, become ASCII letters in lower case. So two addresses would become one. */
function readAscii(email: string): string | null {
  return /^[\x21-\x7e]+$/.test(email) ? email.toLowerCase() : null;
}

/** Entra ID has no `email_verified`. Its optional claim `xms_edov` is true if the tenant has verified the email's domain. */
function isEntra(issuer: string): boolean {
  return /^https:\/\/(login\.(microsoftonline\.(com|us|de)|partner\.microsoftonline\.cn)|sts\.windows\.net)\//.test(
    issuer,
  );
}

function verification(issuer: string, claims: Claims): unknown {
  return claims["email_verified"] ?? (isEntra(issuer) ? claims["xms_edov"] : undefined);
}

/** Entra ID encodes `xms_edov` as a boolean, a number or a string. Elsewhere, only `true` counts. */
function isVerified(value: unknown, issuer: string): boolean {
  return value === true || (isEntra(issuer) && (value === 1 || value === "1" || value === "true"));
}

function listTexts(value: unknown): string[] {
  const values = Array.isArray(value) ? value : [value];
  return values.filter((one) => typeof one === "string");
}

/** Why the person may not sign in at all, or null. Checked at every sign-in. */
export function refusePerson(settings: SignOnSettings, person: Person): SignOnFailure | null {
  const { issuer, allowedDomains } = settings;
  if (issuer === GOOGLE && !allowedDomains?.includes(person.hostedDomain ?? "")) return "domain_not_allowed";
  return settings.roles !== null && claimedRole(settings, person) === null ? "role_not_mapped" : null;
}

/** Why the person's email does not identify a member, or null. Checked only when an account is connected. */
export function refuseEmail({ allowedDomains }: SignOnSettings, person: Person): SignOnFailure | null {
  const { email, isEmailVerified } = person;
  if (email === null || !isEmailVerified) return "email_unverified";
  const domain = email.slice(email.lastIndexOf("@") + 1);
  return allowedDomains === null || allowedDomains.includes(domain) ? null : "domain_not_allowed";
}

/** The highest role among the values of the role claim. Null if no value has a role, or if Purser decides roles. */
export function claimedRole({ roles }: SignOnSettings, { roleValues }: Person): ClaimedRole | null {
  const found = roleValues.map((value) => roles?.byValue.get(value));
  return (
    found.filter((role) => role !== undefined).toSorted((a, b) => ROLES.indexOf(b) - ROLES.indexOf(a))[0] ??
    null
  );
}
