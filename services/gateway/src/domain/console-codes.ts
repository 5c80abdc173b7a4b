import { createHash, randomBytes } from 'node:crypto';

/** Bytes of randomness in a code, and its validity. */
const CODE_BYTES = 32;
const CODE_MS = 60_000;
/** Maximum number of unused codes; the oldest is evicted. */
const HELD_AT_MOST = 100;

export interface IssuedCode {
  code: string;
  /** Milliseconds since 1970. */
  endsAt: number;
}

/** Codes of one-time sign-ins. They exist in this process only, as digests. */
export interface ConsoleCodes {
  issue: (subject: string, now: number) => IssuedCode;
  /** The subject of a code that was issued less than a minute ago; undefined afterwards, and on a second use. */
  redeem: (code: string, now: number) => string | undefined;
}

export function createConsoleCodes(): ConsoleCodes {
  const issued = new Map<string, { subject: string; endsAt: number }>();
  return {
    issue: (subject, now) => {
      const code = randomBytes(CODE_BYTES).toString('base64url');
      const endsAt = now + CODE_MS;
      for (const [digest, { endsAt: end }] of issued) {
        if (end <= now || issued.size >= HELD_AT_MOST) issued.delete(digest);
      }
      issued.set(digestOf(code), { subject, endsAt });
      return { code, endsAt };
    },
    redeem: (code, now) => {
      const digest = digestOf(code);
      const found = issued.get(digest);
      issued.delete(digest);
      return found && found.endsAt > now ? found.subject : undefined;
    },
  };
}

/** Codes are looked up by digest, so that the time of a response reveals nothing about them. */
const digestOf = (code: string) => createHash('sha256').update(code).digest('base64');
