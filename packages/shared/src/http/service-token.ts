import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { fail } from '../errors.ts';
import { subjectLimits } from '../contracts/limits.ts';
import type { Caller } from './caller.ts';

const LIFETIME_S = 60;
const claims = z.object({
  sub: z.string().min(1),
  iss: z.string().min(1),
  limits: subjectLimits.optional(),
  maintenance: z.object({ reason: z.string() }).optional(),
});

/**
 * Mints the token of one hop: HS256, 60 s, for one audience. It is checked when the request starts, not while it runs.
 */
export async function mintServiceToken(caller: Caller, to: { key: string; audience: string }): Promise<string> {
  const payload = { limits: caller.limits, maintenance: caller.maintenance };
  return new SignJWT(payload)
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(caller.subject)
    .setIssuer(caller.issuer)
    .setAudience(to.audience)
    .setIssuedAt()
    .setExpirationTime(`${LIFETIME_S}s`)
    .sign(secret(to.key));
}

/** @throws AppError OP-AUTH-REQUIRED for a token that is forged, expired or meant for another service. */
export async function verifyServiceToken(token: string, by: { key: string; audience: string }): Promise<Caller> {
  try {
    const { payload } = await jwtVerify(token, secret(by.key), {
      audience: by.audience,
      algorithms: ['HS256'],
      clockTolerance: 10,
    });
    const { sub, iss, limits, maintenance } = claims.parse(payload);
    return { subject: sub, issuer: iss, limits, maintenance };
  } catch {
    throw fail.authRequired('service_token_invalid');
  }
}

function secret(key: string): Uint8Array {
  return new TextEncoder().encode(key);
}
