import { z } from 'zod';

/** A token as the token server gave it. */
export interface BearerToken {
  value: string;
  /** From when it was received. */
  lifeMs: number;
}

/** The answer of the token server holds no token that a broker could take; the message is the rest of a sentence. */
export class UnusableTokenError extends Error {
  override readonly name = 'UnusableTokenError';
}

/**
 * Shortest life of a token that is used. It is renewed at 80 % of its life, and connections log in again ten seconds
 * before their session ends: with less than a minute they would meet the old token.
 */
const MIN_LIFE_MS = 60_000;

const reply = z.object({
  // The characters of RFC 6750; anything else could end the message to the broker early.
  access_token: z.string().regex(/^[\w.~+/-]+=*$/),
  token_type: z.string().optional(),
  // Some servers send it as text.
  expires_in: z.coerce.number().optional(),
});

/** Reads the answer of a token server (RFC 6749, 5.1). @throws UnusableTokenError */
export function readToken(body: unknown): BearerToken {
  const parsed = reply.safeParse(body);
  if (!parsed.success) {
    const at = parsed.error.issues[0]?.path[0];
    throw new UnusableTokenError(`answers without a usable ${at === undefined ? 'JSON object' : String(at)}`);
  }
  const { access_token: value, token_type: type = 'bearer', expires_in: seconds = secondsOf(value) } = parsed.data;
  if (type.toLowerCase() !== 'bearer') throw new UnusableTokenError(`gives tokens of another type than bearer`);
  if (seconds === undefined) throw new UnusableTokenError('does not say how long its token lives (expires_in)');
  if (!(seconds * 1_000 >= MIN_LIFE_MS))
    throw new UnusableTokenError(`gives a token of ${seconds} s; at least ${MIN_LIFE_MS / 1_000} s are needed`);
  return { value, lifeMs: seconds * 1_000 };
}

const claims = z.object({ exp: z.number(), iat: z.number() });

/** The life of a JSON Web Token by its own dates, so that a clock that differs does not matter. */
function secondsOf(token: string): number | undefined {
  try {
    const text = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
    const { exp, iat } = claims.parse(JSON.parse(text));
    return exp - iat;
  } catch {
    return undefined;
  }
}
