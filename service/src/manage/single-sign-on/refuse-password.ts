import { Problem } from "../../edge/problem.ts";
import type { Role } from "../../primitives/role.ts";
import type { Provider } from "./provider.ts";
import { mayUsePassword } from "./settings.ts";

/** Rejects a password or link of a member who must use single sign-on. */
export function refusePassword(
  signOn: Pick<Provider, "settings"> | null,
  member: { readonly email: string; readonly role: Role | null },
): void {
  if (mayUsePassword(signOn?.settings ?? null, member)) return;
  throw new Problem("sso_required", {
    detail: "This installation requires single sign-on. Log in with it instead of a password or link.",
  });
}
