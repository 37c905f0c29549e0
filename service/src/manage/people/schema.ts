import { Type } from "typebox";
import { ROLES } from "../../primitives/role.ts";
import { actorField, createdByField, nullable, strictObject, timeField } from "../fields.ts";
import { ApiKey } from "../keys/describe-api-key.ts";
import { EMAIL_LENGTH_MAX, EMAIL_LENGTH_MIN, EMAIL_PATTERN } from "./email.ts";
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from "./password.ts";

export const emailField = Type.String({
  minLength: EMAIL_LENGTH_MIN,
  maxLength: EMAIL_LENGTH_MAX,
  pattern: EMAIL_PATTERN,
  description: "The email address, which is case-insensitive.",
  examples: ["ada@example.com"],
});

export const personNameField = Type.String({ minLength: 1, maxLength: 120, examples: ["Ada Lovelace"] });

export const newPasswordField = Type.String({
  minLength: PASSWORD_LENGTH_MIN,
  maxLength: PASSWORD_LENGTH_MAX,
  description: "Use several unrelated words. Common passwords are rejected.",
  examples: ["seven-green-kettles"],
});

const EACH_ROLE =
  "Each role includes the roles before it:\n\n" +
  "- `viewer` reads.\n" +
  "- `operator` changes customers and credits.\n" +
  "- `admin` changes the catalog, keys and members.\n" +
  "- `owner` creates owners and changes the workspace.";

export const roleField = Type.Enum([...ROLES], { description: EACH_ROLE });

const projectRoleFields = {
  projectId: Type.String({ examples: ["1"] }),
  environment: nullable(
    Type.Enum(["test", "live"], { description: "Null if the role applies to both environments." }),
  ),
};

export const ProjectRole = Type.Object({ ...projectRoleFields, role: Type.Enum([...ROLES]) });

const projectRolesField = Type.Array(ProjectRole, {
  description: "Roles in specific projects or environments. In each environment, the highest role applies.",
});

const workspaceRoleField = nullable(
  Type.Enum([...ROLES], {
    description: "The role in the whole workspace. Null for a member with roles only in projects.",
  }),
);

export const wantedRoleField = nullable(
  Type.Enum([...ROLES], {
    description: `The role in the whole workspace. Null requires \`projectRoles\`. ${EACH_ROLE}`,
  }),
);

const PROJECT_ROLES_MAX = 50;

export const wantedProjectRolesField = Type.Array(
  strictObject({ ...projectRoleFields, role: Type.Enum(["viewer", "operator", "admin"]) }),
  {
    maxItems: PROJECT_ROLES_MAX,
    description:
      "Roles in specific projects or environments, in addition to `role`. Replaces all previous ones. Each project can be " +
      "listed once for each environment, and once with `environment` null.",
  },
);

export const Me = Type.Object({
  kind: Type.Enum(["member", "token"]),
  id: Type.String({ examples: ["1"] }),
  name: Type.String({ examples: ["Ada Lovelace"] }),
  email: Type.Union([Type.String({ examples: ["ada@example.com"] }), Type.Null()]),
  role: nullable(
    Type.Enum([...ROLES], {
      description:
        "The role in the whole workspace. Null for a member with roles only in projects. For a token limited to one environment, the " +
        "role in this environment.",
    }),
  ),
  projectRoles: projectRolesField,
  workspaceId: Type.String({ examples: ["1"] }),
});

export const NewOwnerBody = strictObject({
  token: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "The token in the setup link.",
    examples: ["pur_link_…"],
  }),
  email: emailField,
  name: personNameField,
  password: newPasswordField,
});

export const LogInBody = strictObject({
  email: emailField,
  password: Type.String({
    minLength: 1,
    maxLength: PASSWORD_LENGTH_MAX,
    examples: ["seven-green-kettles"],
  }),
});

export const PasswordBody = strictObject({
  current: Type.String({
    minLength: 1,
    maxLength: PASSWORD_LENGTH_MAX,
    examples: ["seven-green-kettles"],
  }),
  new: newPasswordField,
});

export const LinkBody = strictObject({
  token: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "The part of the link after `#`.",
    examples: ["pur_link_…"],
  }),
  password: Type.Optional(newPasswordField),
  name: Type.Optional(personNameField),
});

export const Link = Type.Object({
  path: Type.String({
    description:
      "Append this path to the address of this installation and send the resulting link to the member. Purser does not send email.",
    examples: ["/join#pur_link_…"],
  }),
  expiresAt: timeField,
});

export const Member = Type.Object({
  id: Type.String({ examples: ["3"] }),
  email: emailField,
  name: personNameField,
  role: workspaceRoleField,
  projectRoles: projectRolesField,
  status: Type.Enum(["invited", "active"], {
    description: "`invited` until the member accepts the invitation, with a password or with single sign-on.",
  }),
  hasPasskey: nullable(
    Type.Boolean({
      description:
        "True if the member must use a passkey to log in with a password. Null unless you are an admin.",
    }),
  ),
  usesSignOn: Type.Boolean({ description: "True if the member has connected single sign-on." }),
  createdAt: timeField,
});

const OpenLink = {
  purpose: Type.Enum(["setup", "invitation", "password", "sign_in"]),
  createdAt: timeField,
  expiresAt: timeField,
  createdBy: actorField,
};

export const ListedMember = Type.Object({
  ...Member.properties,
  openLink: nullable(
    Type.Object(OpenLink, {
      description: "The member's valid link. Null if the member has no valid link.",
    }),
  ),
});

export const revokeApiKeysField = Type.Array(Type.String({ examples: ["7"] }), {
  maxItems: 100,
  uniqueItems: true,
  description:
    "IDs of API keys created by the member, to revoke when you lower the roles. Other keys keep working. Requires `role` or " +
    "`projectRoles`.",
});

export const managesAccessField = Type.Boolean({
  description:
    "True if the token may manage members, links and tokens, within its role. Only for `admin` and `owner` tokens of the whole workspace.",
});

export const Token = Type.Object({
  id: Type.String({ examples: ["5"] }),
  name: Type.String({ examples: ["Billing webhooks"] }),
  role: Type.Enum([...ROLES], {
    description:
      "The token's role, which is never above the current role of the member who created the token.",
  }),
  managesAccess: managesAccessField,
  projectId: nullable(Type.String({ description: "Null for the whole workspace.", examples: ["1"] })),
  environment: nullable(Type.Enum(["test", "live"])),
  lastFour: Type.String({ description: "Last four characters of the secret.", examples: ["x7Qp"] }),
  createdAt: timeField,
  createdBy: createdByField,
  expiresAt: nullable(timeField),
  revokedAt: nullable(timeField),
  lastUsedAt: nullable(timeField),
  isValid: Type.Boolean({
    description: "True if the token is neither revoked nor expired, and its creator was not removed.",
  }),
});

export const MemberAccess = Type.Object({
  sessions: Type.Array(Type.Object({ createdAt: timeField, lastUsedAt: timeField, expiresAt: timeField })),
  tokens: Type.Array(Token),
  links: Type.Array(
    Type.Object({
      ...OpenLink,
      member: Type.Object(
        {
          id: Type.String({ examples: ["4"] }),
          name: Type.String({ examples: ["Ben Blue"] }),
          email: Type.String({ examples: ["ben@example.com"] }),
        },
        { description: "The member who can use the link." },
      ),
    }),
  ),
  apiKeys: Type.Array(
    Type.Object({
      ...ApiKey.properties,
      projectId: Type.String({ examples: ["1"] }),
      environment: Type.Enum(["test", "live"]),
    }),
    { description: "API keys created by the member or with the member's tokens. These keys keep working." },
  ),
});
