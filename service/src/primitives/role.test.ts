import fc from "fast-check";
import { expect, test } from "vitest";
import { brandAs, type ProjectId } from "./brand.ts";
import {
  highestRole,
  includesRoles,
  mayActAs,
  type ProjectRole,
  ROLES,
  type Roles,
  roleIn,
  roleInProject,
} from "./role.ts";

const project = (id: number): ProjectId => brandAs<ProjectId>(id);
const scopeOf = (id: number, environment: "test" | "live") => ({ projectId: project(id), environment });

const anyProjectRole: fc.Arbitrary<ProjectRole> = fc.record({
  projectId: fc.constantFrom(project(1), project(2)),
  environment: fc.constantFrom("test", "live", null),
  role: fc.constantFrom(...ROLES),
});

const anyRoles: fc.Arbitrary<Roles> = fc.record({
  role: fc.constantFrom(null, ...ROLES),
  projectRoles: fc.array(anyProjectRole, { maxLength: 4 }),
});

/** Environments of two projects with roles, and of one without. */
const SCOPES = [1, 2, 3].flatMap((id) => [scopeOf(id, "test"), scopeOf(id, "live")]);

test.for([
  { role: null, own: [], test: null, live: null, both: null },
  { role: "viewer", own: [], test: "viewer", live: "viewer", both: "viewer" },
  { role: null, own: [["test", "operator"]], test: "operator", live: null, both: null },
  {
    role: null,
    own: [
      [null, "viewer"],
      ["test", "admin"],
    ],
    test: "admin",
    live: "viewer",
    both: "viewer",
  },
  { role: "viewer", own: [["live", "operator"]], test: "viewer", live: "operator", both: "viewer" },
  { role: "owner", own: [[null, "viewer"]], test: "owner", live: "owner", both: "owner" },
] as const)(
  "workspace role $role with $own is $test in Test and $live in Live",
  ({ role, own, ...expected }) => {
    const projectRoles = own.map(([environment, role]) => ({ projectId: project(1), environment, role }));
    const roles = { role, projectRoles };
    expect(roleIn(roles, scopeOf(1, "test"))).toBe(expected.test);
    expect(roleIn(roles, scopeOf(1, "live"))).toBe(expected.live);
    expect(roleInProject(roles, project(1))).toBe(expected.both);
    expect(roleIn(roles, scopeOf(2, "test"))).toBe(role);
  },
);

test("roles include other roles exactly if they are at least as high in the workspace and in every environment", () => {
  fc.assert(
    fc.property(anyRoles, anyRoles, (roles, others) => {
      const isAsHigh =
        mayActAs(roles.role, others.role) &&
        SCOPES.every((scope) => mayActAs(roleIn(roles, scope), roleIn(others, scope)));
      expect(includesRoles(roles, others)).toBe(isAsHigh);
    }),
    { numRuns: 2_000 },
  );
});

test("no role applies above the highest role", () => {
  fc.assert(
    fc.property(anyRoles, (roles) => {
      for (const scope of SCOPES) expect(mayActAs(highestRole(roles), roleIn(roles, scope))).toBe(true);
    }),
  );
});
