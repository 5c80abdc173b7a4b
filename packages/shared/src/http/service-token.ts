import { errors, jwtVerify, SignJWT } from 'jose';
import type { JWTHeaderParameters } from 'jose';
import { z } from 'zod';
import { ConfigError } from '../config.ts';
import { callers } from '@vision/contracts/allowed-calls';
import type { Callee, CallingService } from '@vision/contracts/allowed-calls';
import { snapshotMode } from '@vision/contracts/create-query';
import { keyScopes } from '@vision/contracts/scopes';
import { subjectLimits } from '@vision/contracts/limits';
import type { PublicKey, SigningKey } from '../service-keys.ts';
import type { Caller } from './caller.ts';
import { createRecent } from './recent.ts';

/** Longest life of a token. A verifier refuses a longer one of any signer. */
const LIFETIME_S = 300;
/** A token is used for half of its life, so that it reaches the other side with the other half left. */
const RENEW_AFTER_MS = (LIFETIME_S * 1000) / 2;
/** How far the clocks of two hosts may be apart. */
const CLOCK_TOLERANCE_S = 30;
const TYPE = 'vision-call+jwt';
const REMEMBERED = 10_000;

/** For whom a service calls, and what it vouches for. */
export type Behalf = Omit<Caller, 'issuer'>;

export interface TokenSigner {
  /** The token for a call to this service. One is made at most every 150 s for the same claims. */
  sign: (audience: Callee, behalf: Behalf) => Promise<string>;
}

export interface SignerOptions {
  issuer: CallingService;
  key: SigningKey;
  /** What the others verify with; a key that they do not know is found out here, before any call. */
  publicKeys: PublicKey[];
}

/** @throws ConfigError when the key has no public half under the name of this service. */
export function createTokenSigner({ issuer, key, publicKeys }: SignerOptions): TokenSigner {
  if (!publicKeys.some(({ service, kid }) => service === issuer && kid === key.kid))
    throw new ConfigError(`SERVICE_PUBLIC_KEYS has no key for SERVICE_KEY of ${issuer}`);
  const tokens = createRecent<string>(REMEMBERED);
  // Both dates are of one look at the clock: when a second ended between two, the token claimed one too much.
  const make = async (audience: Callee, { subject, ...vouched }: Behalf, issuedAtS: number) =>
    new SignJWT(claimsOf(vouched))
      .setProtectedHeader({ alg: 'EdDSA', typ: TYPE, kid: key.kid })
      .setSubject(subject)
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(issuedAtS)
      .setExpirationTime(issuedAtS + LIFETIME_S)
      .sign(key.key);
  return {
    sign: async (audience, behalf) => {
      const claims = JSON.stringify([audience, behalf.subject, claimsOf(behalf)]);
      const known = tokens.get(claims);
      if (known !== undefined) return known;
      const fromMs = Date.now();
      const token = await make(audience, behalf, Math.floor(fromMs / 1000));
      tokens.set(claims, token, { fromMs, untilMs: fromMs + RENEW_AFTER_MS });
      return token;
    },
  };
}

/** What a token says beside its subject. */
const claimsOf = ({ keyId: key_id, limits, scopes, snapshots, maintenance }: Omit<Behalf, 'subject'>) => ({
  key_id,
  limits,
  scopes,
  snapshots,
  maintenance,
});

/** What is wrong with a token, in words that may be counted. */
export type TokenFault =
  'malformed' | 'algorithm' | 'key_unknown' | 'signature' | 'expired' | 'not_yet' | 'audience' | 'claims';

export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly fault: TokenFault;

  constructor(fault: TokenFault) {
    super(`token refused: ${fault}`);
    this.fault = fault;
  }
}

export interface TokenVerifier {
  /** Who calls, as the token proves. @throws TokenError for a token that does not. */
  verify: (token: string) => Promise<ServiceCaller>;
}

export type ServiceCaller = Caller & { issuer: CallingService };

/** Verifies tokens for one service. Tokens that were good are remembered while they last. */
export function createTokenVerifier(audience: Callee, publicKeys: PublicKey[]): TokenVerifier {
  const keys = new Map(publicKeys.map((key) => [key.kid, key]));
  const keyOf = ({ kid }: JWTHeaderParameters): PublicKey => {
    const key = typeof kid === 'string' ? keys.get(kid) : undefined;
    if (!key) throw new TokenError('key_unknown');
    return key;
  };
  const verified = createRecent<ServiceCaller>(REMEMBERED);
  const check = async (token: string) => {
    const { payload, protectedHeader } = await jwtVerify(token, (header) => keyOf(header).key, {
      algorithms: ['EdDSA'],
      typ: TYPE,
      audience,
      clockTolerance: CLOCK_TOLERANCE_S,
      maxTokenAge: LIFETIME_S,
    });
    const { sub, iss, key_id: keyId, limits, scopes, snapshots, maintenance, iat, exp } = claims.parse(payload);
    if (payload.aud !== audience) throw new TokenError('audience');
    // Every service signs in its own name only.
    if (keyOf(protectedHeader).service !== iss) throw new TokenError('claims');
    if (exp - iat > LIFETIME_S) throw new TokenError('claims');
    const caller: ServiceCaller = { subject: sub, issuer: iss, keyId, limits, scopes, snapshots, maintenance };
    verified.set(token, caller, { fromMs: (iat - CLOCK_TOLERANCE_S) * 1000, untilMs: exp * 1000 });
    return caller;
  };
  return {
    verify: async (token) => {
      try {
        return verified.get(token) ?? (await check(token));
      } catch (error) {
        throw new TokenError(faultOf(error));
      }
    },
  };
}

const claims = z.object({
  sub: z.string().min(1),
  iss: z.enum(callers),
  iat: z.number(),
  exp: z.number(),
  key_id: z.string().optional(),
  limits: subjectLimits.optional(),
  // A scope of a later release gives no right here.
  scopes: z
    .array(z.string())
    .transform((scopes) => keyScopes.filter((scope) => scopes.includes(scope)))
    .optional(),
  // A mode of a later release creates no images here.
  snapshots: snapshotMode.optional().catch(undefined),
  maintenance: z.object({ reason: z.string() }).optional(),
});

const faultOfClaim: Record<string, TokenFault> = { aud: 'audience', iat: 'not_yet', nbf: 'not_yet' };

function faultOf(error: unknown): TokenFault {
  if (error instanceof TokenError) return error.fault;
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm';
  if (error instanceof errors.JWTClaimValidationFailed) return faultOfClaim[error.claim] ?? 'claims';
  if (error instanceof z.ZodError) return 'claims';
  return 'malformed';
}
