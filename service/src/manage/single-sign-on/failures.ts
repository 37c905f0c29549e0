/** Why a sign-in failed. The login page gets the code in its URL and explains it. The service's log and the audit log have the reason. */
export const SIGN_ON_FAILURES = {
  provider_unreachable: "the provider did not respond",
  provider_misconfigured: "the provider's settings and those of Purser do not match",
  provider_refused: "the provider refused the sign-in",
  attempt_invalid: "the sign-in was used before, took too long, or was started in another browser",
  response_invalid: "the provider's response does not belong to this sign-in",
  email_unverified: "the provider sent no verified email address",
  domain_not_allowed: "the email's domain is not allowed",
  not_invited: "no open invitation has this email",
  connect_first: "the member has joined, but has not connected this account",
  email_differs: "the account and the member have different emails",
  account_in_use: "the account or the member is already connected",
  role_not_mapped: "the role claim has no value with a role",
  too_many_attempts: "too many sign-ins were started in a short time",
  upgrade_unfinished: "the upgrade of Purser is not finished",
} as const;

export type SignOnFailure = keyof typeof SIGN_ON_FAILURES;
