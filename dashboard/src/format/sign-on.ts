/** What a failed sign-in means, and what the person can do about it. The keys are the codes in the address. */
export const SIGN_ON_PROBLEMS: Readonly<Record<string, { readonly title: string; readonly advice: string }>> =
  {
    provider_unreachable: {
      title: "The sign-on provider does not respond",
      advice: "Try again in a few minutes.",
    },
    provider_misconfigured: {
      title: "Single sign-on is not set up correctly",
      advice: "Ask an admin to check the settings of single sign-on.",
    },
    provider_refused: {
      title: "The provider refused the sign-in",
      advice: "You canceled, or your account may not use Purser.",
    },
    attempt_invalid: {
      title: "This sign-in is no longer valid",
      advice:
        "It took too long, was already used, or began in another tab or at another address. Start again here.",
    },
    response_invalid: {
      title: "The provider's response was not valid",
      advice: "Start again. If this repeats, ask an admin.",
    },
    email_unverified: {
      title: "The provider does not confirm your email",
      advice: "Verify your email address there, or ask an admin.",
    },
    domain_not_allowed: {
      title: "This account is not from an allowed domain",
      advice: "Use your work account.",
    },
    not_invited: {
      title: "You are not invited",
      advice: "Ask an admin to invite the email address of this account, or to renew your invitation.",
    },
    connect_first: {
      title: "This account is not connected yet",
      advice:
        "You already joined. Log in with your password and connect single sign-on under Settings, Profile. Without a password, ask an " +
        "admin to remove and invite you again.",
    },
    email_differs: {
      title: "The account has another email",
      advice: "Choose the account with the email that you have in Purser.",
    },
    account_in_use: {
      title: "Already connected",
      advice: "Another member has connected this account, or you have connected another account.",
    },
    role_not_mapped: {
      title: "You have no role in Purser",
      advice: "Ask an admin for a group that may use Purser.",
    },
    too_many_attempts: { title: "Too many attempts", advice: "Wait a minute, then try again." },
    upgrade_unfinished: {
      title: "Single sign-on is not available yet",
      advice: "An admin has to finish the upgrade of Purser first.",
    },
  };

/** The code in the address, if it is a known one. */
export function readSignOnProblem(value: unknown): { problem?: string } {
  return typeof value === "string" && Object.hasOwn(SIGN_ON_PROBLEMS, value) ? { problem: value } : {};
}
