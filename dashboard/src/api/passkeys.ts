import {
  type AuthenticationResponseJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from "@simplewebauthn/browser";
import type { Answer } from "./answer.ts";
import { ApiProblem } from "./api-problem.ts";

export type CreationOptions = Answer<"startPasskey">["publicKey"];

/** The second step of a login. `publicKey` is null if this address cannot use passkeys. */
export type SecondFactor =
  | {
      readonly kind: "use";
      readonly token: string;
      readonly publicKey: PublicKeyCredentialRequestOptionsJSON | null;
    }
  | { readonly kind: "set up"; readonly token: string; readonly publicKey: CreationOptions | null };

/** The second step that the API asks for. Null for all other errors. */
export function secondFactorOf(error: unknown): SecondFactor | null {
  if (!(error instanceof ApiProblem)) return null;
  const { secondFactor } = error.body;
  if (error.code === "second_factor_required" && isAsked<PublicKeyCredentialRequestOptionsJSON>(secondFactor))
    return { kind: "use", ...secondFactor };
  if (error.code === "second_factor_setup_required" && isAsked<CreationOptions>(secondFactor))
    return { kind: "set up", ...secondFactor };
  return null;
}

/** The code of the error says which options follow. */
function isAsked<Options>(value: unknown): value is { token: string; publicKey: Options | null } {
  return (
    typeof value === "object" &&
    value !== null &&
    "token" in value &&
    typeof value.token === "string" &&
    "publicKey" in value
  );
}

/** Shows the browser's prompt for one of the member's passkeys. */
export function promptForPasskey(
  optionsJSON: PublicKeyCredentialRequestOptionsJSON,
): Promise<AuthenticationResponseJSON> {
  return startAuthentication({ optionsJSON });
}

/** Shows the browser's prompt to create a passkey. */
export function promptForNewPasskey(optionsJSON: CreationOptions): Promise<RegistrationResponseJSON> {
  return startRegistration({ optionsJSON });
}

/** The problem in a browser's prompt. Null for errors from the API. */
export function explainPrompt(error: unknown): string | null {
  if (error === null || error instanceof ApiProblem) return null;
  const code = error instanceof WebAuthnError ? error.code : null;
  if (code === "ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED")
    return "This device already has a passkey for your account.";
  if (code === "ERROR_INVALID_DOMAIN" || code === "ERROR_INVALID_RP_ID")
    return "Passkeys do not work at this address. Open Purser at its public address.";
  if (code === "ERROR_AUTHENTICATOR_MISSING_USER_VERIFICATION_SUPPORT")
    return "This device cannot verify its user. Set a PIN, or use another device.";
  if (error instanceof Error && error.name === "NotAllowedError")
    return "The prompt was closed or timed out, or no passkey matched.";
  return error instanceof Error ? error.message : "The browser could not use a passkey.";
}
