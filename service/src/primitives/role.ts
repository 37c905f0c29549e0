/** In ascending order: each role includes the previous ones. */
export const ROLES = ["viewer", "operator", "admin", "owner"] as const;
export type Role = (typeof ROLES)[number];

export function mayActAs(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

export function lesserRole(a: Role, b: Role): Role {
  return mayActAs(a, b) ? b : a;
}
