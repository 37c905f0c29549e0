import { Type } from "typebox";
import type { Access } from "../../edge/admit-managers.ts";
import { nullable } from "../fields.ts";
import { type Operation, operation } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { NOUN, requireProvider } from "./operations.ts";
import { redirectUriOf } from "./settings.ts";

const ACCESS: Access = { role: "admin", in: "workspace" };
const PATH = "/manage/v1/single-sign-on";

export const SignOnSettings = Type.Object({
  issuer: Type.String({ description: "`OIDC_ISSUER`.", examples: ["https://id.example.com"] }),
  clientId: Type.String({ description: "`OIDC_CLIENT_ID`.", examples: ["purser"] }),
  scopes: Type.String({ description: "`OIDC_SCOPES`.", examples: ["openid email profile"] }),
  redirectUri: Type.String({
    description: "Register this URL at the provider.",
    examples: ["https://purser.example.com/manage/v1/session/oidc/callback"],
  }),
  allowedDomains: nullable(
    Type.Array(Type.String({ examples: ["example.com"] }), {
      description: "`OIDC_ALLOWED_DOMAINS`. Null if every domain may sign in.",
    }),
  ),
  roleClaim: nullable(
    Type.String({ description: "`OIDC_ROLE_CLAIM`. Null if Purser decides roles.", examples: ["groups"] }),
  ),
  roles: Type.Array(
    Type.Object({
      value: Type.String({ examples: ["billing"] }),
      role: Type.Enum(["viewer", "operator", "admin"]),
    }),
    {
      description:
        "`OIDC_ROLES`: the role for each value of the claim. If several values match, the highest role is used.",
    },
  ),
  isRequired: Type.Boolean({ description: "`OIDC_ONLY`." }),
  localOwner: nullable(
    Type.String({
      description: "`OIDC_LOCAL_OWNER`. The only member who may use a password. Null if every member may.",
      examples: ["owner@example.com"],
    }),
  ),
});

export const SignOnFinding = Type.Object({
  name: Type.Enum(["metadata", "keys", "code", "pkce", "scopes", "log_out"]),
  level: Type.Enum(["ok", "warning", "failure"]),
  text: Type.String({ examples: ["The provider supports PKCE with S256."] }),
});

export function signOnSettingsOperations({ signOn }: Pick<ManageParts, "signOn">): Operation[] {
  return [
    operation({
      method: "GET",
      path: `${PATH}/settings`,
      access: ACCESS,
      id: "readSignOnSettings",
      noun: NOUN,
      summary: "Read the settings of single sign-on",
      description:
        "Null if single sign-on is not set up. The settings are environment variables of the service.",
      answer: Type.Object({ settings: nullable(SignOnSettings) }),
      handle: async () => {
        if (signOn === null) return { settings: null };
        const { issuer, clientId, scopes, allowedDomains, roles, onlyLocalOwner } = signOn.settings;
        return {
          settings: {
            issuer,
            clientId,
            scopes,
            redirectUri: redirectUriOf(signOn.settings),
            allowedDomains: allowedDomains && [...allowedDomains],
            roleClaim: roles?.claim ?? null,
            roles: [...(roles?.byValue ?? [])].map(([value, role]) => ({ value, role })),
            isRequired: onlyLocalOwner !== null,
            localOwner: onlyLocalOwner,
          },
        };
      },
    }),
    operation({
      method: "POST",
      path: `${PATH}/test`,
      access: ACCESS,
      id: "testSignOn",
      noun: NOUN,
      summary: "Test the connection to the provider",
      description:
        "Reads the provider's metadata and keys from the service. To test the client ID, its secret and the redirect URI, sign in.",
      answer: Type.Object({ findings: Type.Array(SignOnFinding) }),
      codes: ["not_found"],
      handle: async () => ({ findings: await requireProvider(signOn).inspect() }),
    }),
  ];
}
