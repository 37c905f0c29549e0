/** Explains why a sign-in failed, and what to do. The keys are the codes in the address. */
export const SIGN_ON_PROBLEMS: Readonly<Record<string, { readonly title: string; readonly advice: string }>> =
  {
    provider_unreachable: {
      title: "The sign-on provider is not responding",
      advice: "Try again in a few minutes.",
    },
    provider_misconfigured: {
      title: "Single sign-on is not set up correctly",
      advice: "Ask an admin to check the single sign-on settings.",
    },
    provider_refused: {
      title: "The provider refused the sign-in",
      advice: "You canceled, or your account is not allowed to use Purser.",
    },
    attempt_invalid: {
      title: "This sign-in is no longer valid",
      advice: "It expired, was already used, or was started elsewhere. Start again here.",
    },
    response_invalid: {
      title: "The provider's response was not valid",
      advice: "Start again. If this happens again, ask an admin.",
    },
    email_unverified: {
      title: "Your email is not verified at the provider",
      advice: "Verify your email there, or ask an admin.",
    },
    domain_not_allowed: {
      title: "This account is not from an allowed domain",
      advice: "Use your work account.",
    },
    not_invited: {
      title: "You are not invited",
      advice: "Ask an admin for an invitation to this account's email address.",
    },
    connect_first: {
      title: "This account is not connected yet",
      advice:
        "Log in with your password, and connect single sign-on under Settings, Profile. If you don't have a password, ask " +
        "an admin to remove you and invite you again.",
    },
    email_differs: {
      title: "The account has a different email",
      advice: "Choose the account with the email that you have in Purser.",
    },
    account_in_use: {
      title: "Already connected",
      advice: "Another member uses this account, or you have connected another account.",
    },
    role_not_mapped: {
      title: "You have no role in Purser",
      advice: "Ask an admin to add you to a group that may use Purser.",
    },
    too_many_attempts: { title: "Too many attempts", advice: "Wait a minute, then try again." },
    upgrade_unfinished: {
      title: "Single sign-on is not available yet",
      advice: "An admin must finish upgrading Purser first.",
    },
  };

/** The code in the address, if it is a known one. */
export function readSignOnProblem(value: unknown): { problem?: string } {
  return typeof value === "string" && Object.hasOwn(SIGN_ON_PROBLEMS, value) ? { problem: value } : {};
}
