import { isLoopbackHost } from "../../primitives/network.ts";
import { ROLES, type Role } from "../../primitives/role.ts";
import { isEmail } from "../people/email.ts";
import { hasPassword } from "../people/password.ts";

/** Settings of single sign-on with an OpenID Connect provider. */
export type SignOnSettings = {
  /** The provider's issuer. Compared exactly, without adding or removing a slash. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The public origin of this installation. */
  readonly publicUrl: string;
  /** Separated by spaces. */
  readonly scopes: string;
  /** Domains of email addresses that may sign in, in lower case. Null if every domain may. */
  readonly allowedDomains: readonly string[] | null;
  /** How the provider decides a member's role. Null if Purser decides it. */
  readonly roles: { readonly claim: string; readonly byValue: ReadonlyMap<string, ClaimedRole> } | null;
  /** If single sign-on is required, the email of the only owner who may log in with a password. Null if passwords are allowed. */
  readonly onlyLocalOwner: string | null;
};

/** A claim never makes anyone an owner, so that the provider's administrators cannot take over the workspace. */
export type ClaimedRole = Exclude<Role, "owner">;

/** Every setting of single sign-on and its description, for `purser help`. */
export const SIGN_ON_SETTINGS = {
  OIDC_ISSUER:
    "issuer of the OpenID Connect provider, exactly as in its metadata; needs OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and PUBLIC_URL",
  OIDC_CLIENT_ID: "the client ID that the provider assigned to Purser",
  OIDC_CLIENT_SECRET: "the secret of OIDC_CLIENT_ID",
  OIDC_SCOPES: "scopes to request, separated by spaces (default: openid email profile)",
  OIDC_ALLOWED_DOMAINS:
    "comma-separated domains of email addresses that may use single sign-on; required for https://accounts.google.com (default: all)",
  OIDC_ROLE_CLAIM: "claim that decides a member's role at each sign-in, such as groups; needs OIDC_ROLES",
  OIDC_ROLES:
    "role for each value of OIDC_ROLE_CLAIM, such as staff=viewer,billing=operator; viewer, operator or admin",
  OIDC_ONLY:
    "`true` to reject passwords, so that members must use single sign-on; needs OIDC_LOCAL_OWNER (default: false)",
  OIDC_LOCAL_OWNER: "with OIDC_ONLY, the email of the one owner who may still log in with a password",
} as const;

/** The path to which the provider redirects the browser. */
export const CALLBACK_PATH = "/manage/v1/session/oidc/callback";

export function redirectUriOf({ publicUrl }: Pick<SignOnSettings, "publicUrl">): string {
  return `${publicUrl}${CALLBACK_PATH}`;
}

/** Whether a member may use a password. `email` is in lower case. */
export function mayUsePassword(
  settings: Pick<SignOnSettings, "onlyLocalOwner"> | null,
  { email, role }: { readonly email: string; readonly role: Role | null },
): boolean {
  const owner = settings?.onlyLocalOwner ?? null;
  return owner === null || (email === owner && role === "owner");
}

type Credentials = { readonly passwordHash: string | null; readonly issuers: readonly string[] };

/** Whether the member has accepted the invitation, with a password or with single sign-on. An account at an earlier provider does not count. */
export function hasJoined(
  settings: Pick<SignOnSettings, "issuer"> | null,
  { passwordHash, issuers }: Credentials,
): boolean {
  return passwordHash !== null || usesSignOn(settings, { issuers });
}

/** Whether the member has connected an account at the current provider. */
export function usesSignOn(
  settings: Pick<SignOnSettings, "issuer"> | null,
  { issuers }: Pick<Credentials, "issuers">,
): boolean {
  return settings !== null && issuers.includes(settings.issuer);
}

/** Whether the member can log in with the current settings. */
export function canLogIn(
  settings: Pick<SignOnSettings, "issuer" | "onlyLocalOwner"> | null,
  member: Credentials & { readonly email: string; readonly role: Role | null },
): boolean {
  return (hasPassword(member) && mayUsePassword(settings, member)) || usesSignOn(settings, member);
}

export const GOOGLE = "https://accounts.google.com";

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the settings. Problems name the setting, never the secret. */
export function readSignOnSettings(
  environment: Environment,
  clientSecret: string | null,
  problems: string[],
): SignOnSettings | null {
  const read = (name: keyof typeof SIGN_ON_SETTINGS): string | null => environment[name]?.trim() || null;
  const issuer = read("OIDC_ISSUER");
  if (issuer === null) {
    const given = Object.keys(SIGN_ON_SETTINGS).filter((name) => environment[name]);
    if (clientSecret !== null && given.length === 0) given.push("OIDC_CLIENT_SECRET");
    if (given.length > 0) problems.push(`${given.join(", ")} must be set together with OIDC_ISSUER`);
    return null;
  }
  const issuerProblem = findIssuerProblem(issuer);
  if (issuerProblem !== null) problems.push(`OIDC_ISSUER ${issuerProblem}`);
  const clientId = read("OIDC_CLIENT_ID");
  if (clientId === null) problems.push("OIDC_CLIENT_ID must be set together with OIDC_ISSUER");
  if (clientSecret === null) problems.push("OIDC_CLIENT_SECRET must be set together with OIDC_ISSUER");
  const publicUrl = environment["PUBLIC_URL"] || null;
  if (publicUrl === null)
    problems.push(
      "PUBLIC_URL must be set together with OIDC_ISSUER, because the provider redirects browsers to it",
    );
  const scopes = read("OIDC_SCOPES") ?? "openid email profile";
  if (!scopes.split(/\s+/).includes("openid")) problems.push("OIDC_SCOPES must contain openid");
  const allowedDomains = readDomains(read("OIDC_ALLOWED_DOMAINS"), problems);
  if (allowedDomains === null && issuer === GOOGLE)
    problems.push("OIDC_ALLOWED_DOMAINS must be set for Google, because anyone can have a Google account");
  const onlyLocalOwner = readLocalOwner(
    { only: read("OIDC_ONLY"), owner: read("OIDC_LOCAL_OWNER") },
    problems,
  );
  const firstOwner = environment["INIT_OWNER_EMAIL"]?.toLowerCase() || onlyLocalOwner;
  if (onlyLocalOwner !== null && firstOwner !== onlyLocalOwner)
    problems.push("INIT_OWNER_EMAIL and OIDC_LOCAL_OWNER must be the same email, because OIDC_ONLY is set");
  return {
    issuer,
    clientId: clientId ?? "",
    clientSecret: clientSecret ?? "",
    publicUrl: URL.parse(publicUrl ?? "")?.origin ?? "",
    scopes,
    allowedDomains,
    roles: readRoles({ claim: read("OIDC_ROLE_CLAIM"), roles: read("OIDC_ROLES") }, problems),
    onlyLocalOwner,
  };
}

/** Entra's names for "every tenant". The last one is the tenant of all personal accounts. */
const ENTRA_SHARED = ["common", "organizations", "consumers", "9188040d-6c67-4c5b-b112-36a304b66dad"];

/** Anyone, or every customer of the provider, has accounts at these issuers. Google is shared too, but names an account's company. */
const SHARED = [
  "gitlab.com",
  "appleid.apple.com",
  "slack.com",
  "login.salesforce.com",
  "test.salesforce.com",
];

/** Why an issuer cannot be used, or null. An issuer that many companies share would let strangers claim our members' addresses. */
function findIssuerProblem(issuer: string): string | null {
  const url = URL.parse(issuer);
  if (url === null || !/^https?:\/\//.test(issuer)) return "must be an https:// URL";
  const tenant = url.pathname.split("/")[1]?.toLowerCase() ?? "";
  const isEntra = /(^|\.)(microsoftonline\.(com|us|de)|partner\.microsoftonline\.cn|windows\.net)$/.test(
    url.hostname,
  );
  if (isEntra && (ENTRA_SHARED.includes(tenant) || !/^[0-9a-f-]{36}$/.test(tenant)))
    return "must name one tenant: use https://login.microsoftonline.com/TENANT_ID/v2.0 with your directory (tenant) ID, a UUID";
  if (SHARED.includes(url.hostname))
    return "must belong to your company alone, and many companies share this provider";
  if (/[{}]|%7b|%7d/i.test(issuer))
    return "must not contain a placeholder such as {tenantid}: use the URL of your own tenant";
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname))
    return "must start with https:// (http:// is allowed on localhost)";
  if (url.search !== "" || url.hash !== "" || url.username !== "")
    return "must not contain a query, a fragment or a user name";
  if (issuer.includes("/.well-known/"))
    return "must be the issuer's URL, without /.well-known/openid-configuration";
  return issuer.length > 500 ? "must have at most 500 characters" : null;
}

function readDomains(text: string | null, problems: string[]): string[] | null {
  if (text === null) return null;
  const domains = text.split(",").map((domain) => domain.trim().toLowerCase());
  const wrong = domains.find((domain) => !/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain));
  if (wrong !== undefined)
    problems.push(
      `OIDC_ALLOWED_DOMAINS contains ${JSON.stringify(wrong)}, which is not a domain such as example.com`,
    );
  return domains;
}

const CLAIMED_ROLES = ROLES.filter((role) => role !== "owner");

function readRoles(
  { claim, roles }: { claim: string | null; roles: string | null },
  problems: string[],
): SignOnSettings["roles"] {
  if (claim === null && roles === null) return null;
  if (claim === null || roles === null) {
    problems.push("OIDC_ROLE_CLAIM and OIDC_ROLES must be set together");
    return null;
  }
  const byValue = new Map<string, ClaimedRole>();
  for (const pair of roles.split(",")) {
    const [, value = "", name = ""] = /^(.+)=([^=]*)$/.exec(pair.trim()) ?? [];
    const role = CLAIMED_ROLES.find((known) => known === name.trim());
    if (value === "" || role === undefined)
      problems.push(
        `OIDC_ROLES contains ${JSON.stringify(pair.trim())}, which is not value=viewer, value=operator or value=admin`,
      );
    else if (byValue.has(value.trim()))
      problems.push(`OIDC_ROLES contains ${JSON.stringify(value.trim())} twice`);
    else byValue.set(value.trim(), role);
  }
  return { claim, byValue };
}

function readLocalOwner(
  { only, owner }: { only: string | null; owner: string | null },
  problems: string[],
): string | null {
  if (only !== null && only !== "true" && only !== "false") problems.push("OIDC_ONLY must be true or false");
  if (only !== "true") {
    if (owner !== null) problems.push("OIDC_LOCAL_OWNER has an effect only with OIDC_ONLY=true");
    return null;
  }
  if (owner === null || !isEmail(owner)) {
    problems.push(
      "OIDC_LOCAL_OWNER must be the email of the one owner who may log in with a password, because OIDC_ONLY is set",
    );
    return "";
  }
  return owner.toLowerCase();
}
