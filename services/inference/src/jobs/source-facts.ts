import type { Video } from '../decoding/ffmpeg-reasons.ts';
import type { LiveHealth, LiveSettings } from '../decoding/live-frames.ts';
import type { JobRecord } from '../domain/job.ts';
import type { SourceFacts } from '../domain/source-snapshots.ts';

/** What is known of a live source beside its connection. */
export interface SourceView {
  isBehind: boolean;
  video: Video | undefined;
}

/** Time without a frame after which a live stream has failed. */
export const giveUpMsOf = ({ giveUpAfterS }: JobRecord, live: LiveSettings): number =>
  giveUpAfterS === undefined ? live.giveUpMs : giveUpAfterS * 1000;

/**
 * Time without a frame after which a live stream yields its slot; undefined: it never does. It does only where it can
 * be connected to again a few times before it fails.
 */
export function parkMsOf(
  job: JobRecord,
  { live, reopenMs }: { live: LiveSettings; reopenMs: number },
): number | undefined {
  if (job.giveUpAfterS === undefined || live.parkMs === undefined) return undefined;
  return giveUpMsOf(job, live) - live.parkMs < 2 * reopenMs ? undefined : live.parkMs;
}

/** What a live source does, for its reports. */
export function factsOf(
  health: LiveHealth,
  { isBehind, video }: SourceView,
  { sampleFps, giveUpMs }: { sampleFps: number; giveUpMs: number },
): SourceFacts {
  const { frames, lost: reason, reconnects, lastFrameAtMs } = health;
  return {
    state: stateOf(health),
    reason,
    codec: video?.codec,
    image: video && { width: video.width, height: video.height },
    frames,
    sampleFps,
    isBehind,
    reconnects,
    lastFrameAtMs,
    givesUpAtMs: lastFrameAtMs + giveUpMs,
  };
}

function stateOf({ state, lost, frames, isAway }: LiveHealth): SourceFacts['state'] {
  if (isAway) return 'waiting';
  if (lost !== undefined) return frames === 0 ? 'connecting' : 'reconnecting';
  return state === 'running' ? 'streaming' : state;
}
