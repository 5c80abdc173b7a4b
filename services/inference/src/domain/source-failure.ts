import type { SourceReason } from '@vision/streams/source-error';

const FATAL: ReadonlySet<SourceReason> = new Set([
  'auth_failed',
  'not_found',
  'tls_invalid',
  'address_forbidden',
  'redirect_refused',
  'codec_unsupported',
  'no_video_track',
  'unreadable',
  'source_lost',
  'decode_time_exceeded',
  'video_too_long',
  'video_too_dense',
  'too_much_data',
]);

// Servers also answer these while a camera behind them is unavailable, so they are fatal only before the first frame.
const FATAL_AT_FIRST_ONLY: ReadonlySet<SourceReason> = new Set(['not_found', 'no_video_track', 'unreadable']);

/** Whether a retry is pointless. */
export function isFatal(reason: SourceReason, hadFrames: boolean): boolean {
  return FATAL.has(reason) && !(hadFrames && FATAL_AT_FIRST_ONLY.has(reason));
}

/** Ends the frames of an unavailable live source but not its job: a later attempt connects to the source again. */
export class SourceAway extends Error {
  override readonly name = 'SourceAway';
  /** Time since its last frame. */
  readonly awayMs: number;
  /** False when the outage began before this attempt, which received no frame. */
  readonly isNew: boolean;

  constructor(awayMs: number, isNew: boolean) {
    super('the source is away');
    this.awayMs = awayMs;
    this.isNew = isNew;
  }
}
