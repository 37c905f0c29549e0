import { describe, expect, test } from "vitest";
import { type Claims, claimedRole, needsUserInfo, readPerson, refuseEmail, refusePerson } from "./claims.ts";
import { readSignOnSettings, type SignOnSettings } from "./settings.ts";

const SECRET = "the-secret";
const WHOLE = {
  OIDC_ISSUER: "https://id.example.com",
  OIDC_CLIENT_ID: "purser",
  PUBLIC_URL: "https://purser.example.com",
};
const TENANT = "0f8fad5b-d9cb-469f-a165-70867728950e";
const ENTRA = `https://login.microsoftonline.com/${TENANT}/v2.0`;
const GOOGLE = "https://accounts.google.com";

function read(environment: Record<string, string>, secret: string | null = SECRET) {
  const problems: string[] = [];
  return { settings: readSignOnSettings(environment, secret, problems), problems };
}

function settingsOf(environment: Record<string, string>): SignOnSettings {
  const { settings, problems } = read({ ...WHOLE, ...environment });
  expect(problems).toEqual([]);
  if (settings === null) throw new Error("no settings");
  return settings;
}

test("without settings there is no single sign-on, and a complete set is read", () => {
  expect(read({}, null)).toEqual({ settings: null, problems: [] });
  expect(
    settingsOf({
      OIDC_ALLOWED_DOMAINS: "Example.com, sub.example.org",
      OIDC_ROLE_CLAIM: "groups",
      OIDC_ROLES: "cn:ops=admin, staff = viewer",
      OIDC_ONLY: "true",
      OIDC_LOCAL_OWNER: "Owner@Example.com",
    }),
  ).toEqual({
    issuer: "https://id.example.com",
    clientId: "purser",
    clientSecret: SECRET,
    publicUrl: "https://purser.example.com",
    scopes: "openid email profile",
    allowedDomains: ["example.com", "sub.example.org"],
    roles: {
      claim: "groups",
      byValue: new Map([
        ["cn:ops", "admin"],
        ["staff", "viewer"],
      ]),
    },
    onlyLocalOwner: "owner@example.com",
  });
});

test.each([
  [{ OIDC_CLIENT_ID: "purser" }, SECRET, /^OIDC_CLIENT_ID must be set together with OIDC_ISSUER/],
  [{}, SECRET, /^OIDC_CLIENT_SECRET must be set together with OIDC_ISSUER/],
  [{ ...WHOLE, OIDC_CLIENT_ID: "" }, SECRET, /^OIDC_CLIENT_ID /],
  [WHOLE, null, /^OIDC_CLIENT_SECRET /],
  [{ ...WHOLE, PUBLIC_URL: "" }, SECRET, /^PUBLIC_URL must be set/],
  [{ ...WHOLE, OIDC_ISSUER: GOOGLE }, SECRET, /^OIDC_ALLOWED_DOMAINS must be set for Google/],
  [{ ...WHOLE, OIDC_ALLOWED_DOMAINS: "example.com,@x" }, SECRET, /^OIDC_ALLOWED_DOMAINS contains "@x"/],
  [{ ...WHOLE, OIDC_SCOPES: "email" }, SECRET, /^OIDC_SCOPES must contain openid/],
  [{ ...WHOLE, OIDC_ROLE_CLAIM: "groups" }, SECRET, /^OIDC_ROLE_CLAIM and OIDC_ROLES /],
  [{ ...WHOLE, OIDC_ROLES: "a=viewer" }, SECRET, /^OIDC_ROLE_CLAIM and OIDC_ROLES /],
  [{ ...WHOLE, OIDC_ROLE_CLAIM: "g", OIDC_ROLES: "a=owner" }, SECRET, /^OIDC_ROLES contains "a=owner"/],
  [{ ...WHOLE, OIDC_ROLE_CLAIM: "g", OIDC_ROLES: "a=viewer,b" }, SECRET, /^OIDC_ROLES contains "b"/],
  [
    { ...WHOLE, OIDC_ROLE_CLAIM: "g", OIDC_ROLES: "a=viewer,a=admin" },
    SECRET,
    /^OIDC_ROLES contains "a" twice/,
  ],
  [{ ...WHOLE, OIDC_ONLY: "true" }, SECRET, /^OIDC_LOCAL_OWNER must be the email/],
  [
    { ...WHOLE, OIDC_ONLY: "true", OIDC_LOCAL_OWNER: "a@b.c", INIT_OWNER_EMAIL: "first@b.c" },
    SECRET,
    /^INIT_OWNER_EMAIL and OIDC_LOCAL_OWNER must be the same/,
  ],
  [{ ...WHOLE, OIDC_ONLY: "yes" }, SECRET, /^OIDC_ONLY must be true or false/],
  [{ ...WHOLE, OIDC_LOCAL_OWNER: "a@b.c" }, SECRET, /^OIDC_LOCAL_OWNER has an effect only with OIDC_ONLY/],
])("%j is rejected, and the message names the setting", (environment, secret, message) => {
  const { problems } = read(environment, secret);
  expect(problems).toEqual([expect.stringMatching(message)]);
  expect(problems.join()).not.toContain(SECRET);
});

test.each([
  ["https://login.microsoftonline.com/common/v2.0", /name one tenant/],
  ["https://login.microsoftonline.com/Organizations/v2.0", /name one tenant/],
  ["https://login.microsoftonline.com/consumers/v2.0", /name one tenant/],
  ["https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0", /name one tenant/],
  ["https://login.microsoftonline.com/{tenantid}/v2.0", /name one tenant/],
  ["https://login.microsoftonline.us/common/v2.0", /name one tenant/],
  ["https://sts.windows.net/common/", /name one tenant/],
  ["https://gitlab.com", /belong to your company alone/],
  ["https://slack.com", /belong to your company alone/],
  ["https://id.example.com/{tenant}", /placeholder/],
  ["https://id.example.com/%7Btenant%7D", /placeholder/],
  ["http://id.example.com", /must start with https/],
  ["http://127.0.0.1.evil.test", /must start with https/],
  ["id.example.com", /must be an https/],
  ["https://id.example.com/?a=b", /must not contain a query/],
  ["https://id.example.com/.well-known/openid-configuration", /without \/\.well-known/],
])("the issuer %s is rejected, because accounts of strangers could sign in", (OIDC_ISSUER, message) => {
  expect(read({ ...WHOLE, OIDC_ISSUER }).problems).toEqual([expect.stringMatching(message)]);
});

test.each([
  ENTRA,
  `https://sts.windows.net/${TENANT}/`,
  "http://localhost:8080/realms/acme",
  "https://acme.okta.com",
])("the issuer %s of one tenant is accepted", (OIDC_ISSUER) => {
  expect(settingsOf({ OIDC_ISSUER }).issuer).toBe(OIDC_ISSUER);
});

describe("claims", () => {
  const judge = (settings: SignOnSettings, idToken: Claims, userInfo: Claims = {}) => {
    const person = readPerson(settings, "ada", idToken, userInfo);
    return refusePerson(settings, person) ?? refuseEmail(settings, person);
  };
  const email = "Ada@Example.com";

  test("an address and its verification must come from the same source", () => {
    const settings = settingsOf({});
    expect(judge(settings, { email, email_verified: true })).toBe(null);
    expect(judge(settings, { email }, { email, email_verified: true })).toBe(null);
    expect(judge(settings, { email: "eve@example.com" }, { email_verified: true })).toBe("email_unverified");
    expect(readPerson(settings, "ada", { email: "eve@x.test" }, { email, email_verified: true }).email).toBe(
      "ada@example.com",
    );
    expect(judge(settings, { email, email_verified: false }, { email, email_verified: true })).toBe(
      "email_unverified",
    );
    for (const idToken of [{}, { email }, { email_verified: true }])
      expect(needsUserInfo(settings, idToken)).toBe(true);
    expect(needsUserInfo(settings, { email, email_verified: true })).toBe(false);
  });

  test("Google accounts must belong to an allowed company, at every sign-in", () => {
    const settings = settingsOf({ OIDC_ISSUER: GOOGLE, OIDC_ALLOWED_DOMAINS: "example.com" });
    const claims = { email, email_verified: true };
    expect(judge(settings, { ...claims, hd: "example.com" })).toBe(null);
    expect(judge(settings, claims)).toBe("domain_not_allowed");
    expect(judge(settings, claims, { hd: "example.com" })).toBe("domain_not_allowed");
    expect(judge(settings, { ...claims, hd: "evil.test" })).toBe("domain_not_allowed");
  });

  test("Entra ID verifies an address with xms_edov, and no other provider does", () => {
    const entra = settingsOf({ OIDC_ISSUER: ENTRA });
    for (const xms_edov of [true, 1, "1", "true"]) expect(judge(entra, { email, xms_edov })).toBe(null);
    for (const xms_edov of [false, 0, "0", "false", null, undefined])
      expect(judge(entra, { email, xms_edov })).toBe("email_unverified");
    expect(judge(settingsOf({}), { email, xms_edov: true })).toBe("email_unverified");
  });

  test("the highest mapped role counts, and only texts are values", () => {
    const settings = settingsOf({ OIDC_ROLE_CLAIM: "groups", OIDC_ROLES: "a=viewer,b=admin,c=operator" });
    const roleOf = (groups: unknown) => claimedRole(settings, readPerson(settings, "ada", { groups }, {}));
    expect(
      [["a", "b", "c"], ["c", "a"], "a", "B", ["owner"], [["a"]], { a: true }, undefined].map(roleOf),
    ).toEqual(["admin", "operator", "viewer", null, null, null, null, null]);
  });
});
