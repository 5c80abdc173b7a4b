import { backoff } from '@vision/shared/async/backoff';
import { untraced } from '@vision/shared/telemetry/trace-context';
import { withoutDeadline } from '@vision/shared/upstream/deadline';
import { REAUTHENTICATE_MS } from '../reauthentication.ts';
import type { BearerToken } from './read-token.ts';

/** Says that a token could not be had; called for the one who asked last. */
export type Tell = (message: string, facts: Record<string, unknown>) => void;

export interface TokenSource {
  /** A token that is good for a login. @throws what the last request for one failed with. */
  get: (tell: Tell) => Promise<string>;
  /** The brokers refused this token, so the next one to ask gets a new one. */
  discard: (value: string) => void;
}

interface Held {
  value: string;
  /** By the clock of `performance.now`, as the next one. */
  endsAt: number;
  renewAt: number;
  used: boolean;
}

/** Longest time that a token is kept, however long it lives: timers reach 24 days. */
const MAX_LIFE_MS = 86_400_000;
/** The part of its life after which a token is renewed. */
const RENEW_AFTER = 0.8;
/**
 * What a token that cannot be renewed must have left. A session ends with its token: with less, each request would log
 * in again, and brokers take one login a second from a connection; for the next one a consumer ends for good.
 */
export const MIN_LEFT_MS = REAUTHENTICATE_MS + 2_000;

/**
 * Holds one token for all connections of a process. It is renewed at 80 % of its life, by one request at a time; while
 * that fails the old one serves until shortly before its end, and the request is repeated with growing pauses. A token
 * that no connection asked for is not renewed, so a source that is no longer used rests.
 */
export function createTokenSource(fetch: () => Promise<BearerToken>, minLeftMs: number): TokenSource {
  let held: Held | undefined;
  let asking: Promise<Held> | undefined;
  let failure = { count: 0, retryAt: 0, error: undefined as unknown };
  let tell: Tell = () => undefined;
  let timer: NodeJS.Timeout | undefined;

  const renewIn = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // A timer may fire just before the pause is over by this clock, and the chain of attempts must not end.
      if (held?.used) ask().catch(() => undefined);
    }, ms).unref();
  };
  const request = async (): Promise<Held> => {
    try {
      held = holding(await fetch());
      if (failure.count > 0) tell('the token server gives tokens again', { failures: failure.count });
      failure = { count: 0, retryAt: 0, error: undefined };
      renewIn(held.renewAt - performance.now());
      return held;
    } catch (error) {
      const count = failure.count + 1;
      const pauseMs = backoff(count, { minMs: 500, maxMs: 30_000 });
      failure = { count, error, retryAt: performance.now() + pauseMs };
      tell(messageOf(error), { failures: count, tokenLeftMs: leftMs(), retryMs: Math.round(pauseMs) });
      if (held) renewIn(pauseMs);
      throw error;
    }
  };
  const leftMs = () => Math.max(0, Math.round((held?.endsAt ?? 0) - performance.now()));
  /** The token is for all connections, so asking for it neither ends with one request nor belongs to its trace. */
  const ask = (): Promise<Held> => {
    asking ??= untraced(() => withoutDeadline(request)).finally(() => (asking = undefined));
    return asking;
  };
  const renew = async (): Promise<Held> => {
    if (!asking && performance.now() < failure.retryAt) throw failure.error;
    return ask();
  };
  const current = async (): Promise<Held> => {
    if (held && performance.now() < held.renewAt) return held;
    try {
      return await renew();
    } catch (error) {
      if (held && leftMs() > minLeftMs) return held;
      throw error;
    }
  };
  return {
    get: async (by) => {
      tell = by;
      const token = await current();
      token.used = true;
      return token.value;
    },
    discard: (value) => {
      if (held?.value !== value) return;
      held = undefined;
      clearTimeout(timer);
    },
  };
}

function holding({ value, lifeMs }: BearerToken): Held {
  const kept = Math.min(lifeMs, MAX_LIFE_MS);
  const now = performance.now();
  return { value, endsAt: now + kept, renewAt: now + RENEW_AFTER * kept, used: false };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
