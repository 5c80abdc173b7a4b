import { asAppError } from '@vision/contracts/errors';

/** What this machine may lack for work on a video, as the reason of an attempt that ended for it. */
export type Shortage = 'no_local_space' | 'decoder_not_started';

/** Attempts at a job that may end for a shortage; the last one fails the job. */
export const MOST_SHORTAGES = 3;
/** Tries within an attempt after the first. */
const RETRIES = 3;
/** Each pause is so many times as long as the one before. */
const GROWTH = 3;

/** The shortage behind the error, undefined for all other errors. */
export function shortageOf(error: unknown): Shortage | undefined {
  const reason = asAppError(error)?.reason;
  return reason === 'no_local_space' || reason === 'decoder_not_started' ? reason : undefined;
}

/** Pause after the given number of shortages in a row, from 1; undefined when the attempt is to end. */
export const shortagePause = (firstMs: number, shortages: number): number | undefined =>
  shortages > RETRIES ? undefined : firstMs * GROWTH ** (shortages - 1);

/** How long a worker takes no files after an attempt ended for a shortage: as long as the last pause. */
export const restMsOf = (firstMs: number): number => firstMs * GROWTH ** (RETRIES - 1);
