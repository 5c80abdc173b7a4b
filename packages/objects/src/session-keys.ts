import { untraced } from '@vision/shared/telemetry/trace-context';
import { withoutDeadline } from '@vision/shared/upstream/deadline';

/** Keys for requests to the store. */
export interface S3Keys {
  accessKey: string;
  secretKey: string;
  sessionToken?: string;
}

/** Keys that end by themselves. */
export interface SessionKeys extends S3Keys {
  sessionToken: string;
  endsAt: Date;
}

interface Held extends Omit<SessionKeys, 'endsAt'> {
  /** By the clock of this process. */
  endsAt: number;
  renewAt: number;
}

/** Limit of one request for keys. */
export const ANSWER_MS = 10_000;
/** Pause after a failure. Without keys each request to the store would be one for keys. */
const PAUSE_MS = 500;

/** Keys that are valid now. @throws what a request for new ones threw, once the old ones have ended. */
export type KeySource = () => Promise<S3Keys>;

/**
 * Keys of some minutes or hours. They are renewed after three quarters of their time, by one request at a time; while
 * that fails, the old ones serve until they end, and after that a failure holds for a moment. The client's own source
 * asks ten seconds before the end, once for each request that waits.
 */
export function renewedKeys(request: () => Promise<SessionKeys>): KeySource {
  let known: Held | undefined;
  let asking: Promise<Held> | undefined;
  let failure = { retryAt: 0, error: undefined as unknown };
  const ask = async (): Promise<Held> => {
    try {
      return holding(await request());
    } catch (error) {
      failure = { retryAt: performance.now() + PAUSE_MS, error };
      throw error;
    }
  };
  /** The keys are for all requests, so asking for them neither ends with one nor belongs to its trace. */
  const shared = async (): Promise<Held> => {
    if (!asking && performance.now() < failure.retryAt) throw failure.error;
    asking ??= untraced(() => withoutDeadline(ask)).finally(() => (asking = undefined));
    return asking;
  };
  const renewed = async () => {
    try {
      known = await shared();
    } catch (error) {
      if (!known || Date.now() > known.endsAt) throw error;
      // Asked again by a later request, not by the very next one.
      known.renewAt = Math.min(known.endsAt, Date.now() + ANSWER_MS);
    }
    return known;
  };
  return async () => (known && Date.now() < known.renewAt ? known : renewed());
}

function holding({ endsAt: end, ...keys }: SessionKeys): Held {
  const now = Date.now();
  const endsAt = end.getTime();
  // By a clock that is ahead, good keys have ended already; each request to the store would be one for keys.
  return { ...keys, endsAt, renewAt: now + Math.max(PAUSE_MS, 0.75 * (endsAt - now)) };
}
