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
