import * as oidc from "openid-client";
import type { SignOnAttempt } from "../../store/control/sign-on-attempts.ts";
import { type Claims, needsUserInfo, type Person, readPerson } from "./claims.ts";
import { discover, type Failed, failure } from "./discover.ts";
import type { SignOnFailure } from "./failures.ts";
import { type Finding, inspectProvider } from "./inspect-provider.ts";
import { redirectUriOf, type SignOnSettings } from "./settings.ts";

const METADATA_MS = 3_600_000;
/** How long a failure to read the metadata is remembered, so that many sign-ins do not wait for a provider that is down. */
const FAILED_MS = 3_000;

/** Maximum length according to the specification and the table. */
const SUBJECT_LENGTH_MAX = 255;

type Secrets = Pick<SignOnAttempt, "state" | "nonce" | "verifier">;

/**
 * The OpenID Connect provider. Its metadata is read when it is needed and kept for an hour, so that a provider that is down does not
 * stop Purser from starting. If the provider is down later, the cached metadata is used.
 */
export class Provider {
  readonly settings: SignOnSettings;
  #found: { readonly configuration: oidc.Configuration; readonly untilMs: number } | null = null;
  #finding: Promise<oidc.Configuration> | null = null;
  #failure: { readonly error: unknown; readonly untilMs: number } | null = null;

  constructor(settings: SignOnSettings) {
    this.settings = settings;
  }

  /** The URL where the person logs in, and what the response must match. */
  async authorize(): Promise<{ kind: "url"; url: string; secrets: Secrets } | Failed> {
    const secrets = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    };
    try {
      const url = oidc.buildAuthorizationUrl(await this.#configuration(), {
        redirect_uri: redirectUriOf(this.settings),
        scope: this.settings.scopes,
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: "S256",
      });
      return { kind: "url", url: url.href, secrets };
    } catch (error) {
      return failure(error);
    }
  }

  /** Validates the provider's response, exchanges its code, and validates the ID token. `query` is the query of the callback's URL. */
  async identify(query: string, secrets: Secrets): Promise<{ kind: "identified"; person: Person } | Failed> {
    let rejected: SignOnFailure = "provider_misconfigured";
    try {
      const configuration = await this.#configuration();
      const tokens = await oidc.authorizationCodeGrant(
        configuration,
        new URL(`${redirectUriOf(this.settings)}?${query}`),
        {
          expectedState: secrets.state,
          expectedNonce: secrets.nonce,
          pkceCodeVerifier: secrets.verifier,
          idTokenExpected: true,
        },
      );
      const claims = tokens.claims();
      // The library accepts any tenant of Entra ID, but Purser accepts only the configured one.
      if (claims === undefined || claims.iss !== this.settings.issuer)
        return { kind: "failed", code: "response_invalid", cause: "the ID token is from another issuer" };
      if (claims.sub.length > SUBJECT_LENGTH_MAX || claims.sub.includes("\0"))
        return { kind: "failed", code: "response_invalid", cause: "the subject is too long" };
      const idToken: Claims = claims;
      rejected = "response_invalid";
      const { userinfo_endpoint: endpoint } = configuration.serverMetadata();
      const userInfo: Claims =
        endpoint !== undefined && needsUserInfo(this.settings, idToken)
          ? await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : {};
      return { kind: "identified", person: readPerson(this.settings, claims.sub, idToken, userInfo) };
    } catch (error) {
      return failure(error, rejected);
    }
  }

  /** Where a person can also log out of the provider. Null if the provider has no such page, or its metadata was not read yet. */
  get logOutUrl(): string | null {
    const configuration = this.#found?.configuration;
    if (configuration?.serverMetadata().end_session_endpoint === undefined) return null;
    const { publicUrl } = this.settings;
    return oidc.buildEndSessionUrl(configuration, { post_logout_redirect_uri: `${publicUrl}/log-in` }).href;
  }

  /** Checks the provider without the cached metadata. */
  inspect(): Promise<Finding[]> {
    return inspectProvider(this.settings);
  }

  async #configuration(): Promise<oidc.Configuration> {
    const nowMs = performance.now();
    if (this.#found !== null && nowMs < this.#found.untilMs) return this.#found.configuration;
    if (this.#failure !== null && nowMs < this.#failure.untilMs) throw this.#failure.error;
    this.#finding ??= this.#find().finally(() => {
      this.#finding = null;
    });
    return this.#finding;
  }

  async #find(): Promise<oidc.Configuration> {
    try {
      const configuration = await discover(this.settings);
      this.#found = { configuration, untilMs: performance.now() + METADATA_MS };
      return configuration;
    } catch (error) {
      const untilMs = performance.now() + FAILED_MS;
      if (this.#found !== null && failure(error).code === "provider_unreachable") {
        this.#found = { ...this.#found, untilMs };
        return this.#found.configuration;
      }
      this.#failure = { error, untilMs };
      throw error;
    }
  }
}
