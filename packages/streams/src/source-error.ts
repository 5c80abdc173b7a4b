/** Why a video source gave no frames. Coarse on purpose: it is shown to users and holds nothing of the source. */
export type SourceReason =
  | 'connection_failed'
  | 'auth_failed'
  | 'not_found'
  | 'timeout'
  | 'tls_invalid'
  | 'address_forbidden'
  | 'redirect_refused'
  | 'codec_unsupported'
  | 'no_video_track'
  | 'unreadable'
  | 'format_changed'
  | 'stream_ended'
  | 'source_lost'
  | 'decoder_failed'
  | 'decode_time_exceeded'
  | 'video_too_long'
  | 'video_too_dense'
  | 'too_much_data'
  | 'scene_unknown';

/** Ends a stream of frames. The message is the reason alone: what the source or ffmpeg said stays out of logs. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly reason: SourceReason;

  constructor(reason: SourceReason) {
    super(reason);
    this.reason = reason;
  }
}

/** The reason of any failure on the way to a frame. */
export function sourceReasonOf(error: unknown): SourceReason {
  return error instanceof SourceError ? error.reason : 'connection_failed';
}
