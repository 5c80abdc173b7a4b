import type { ImageSize } from '@vision/shared/contracts/detection';
import type { ServedScene } from '../detectors/start-detectors.ts';
import type { RgbImage } from '../domain/rgb-image.ts';
import type { JobRecord } from '../domain/job.ts';
import { readFileFrames } from '../decoding/file-frames.ts';
import { watchLive } from '../decoding/live-frames.ts';
import { openLiveInput } from '../inputs/open-live-input.ts';
import { probeFile } from '../decoding/probe-file.ts';
import { SourceError } from '../domain/source-error.ts';
import { persistently } from './persistently.ts';
import type { RunJobDeps } from './run-job-deps.ts';

const PROBE_MS = 10_000;

/** A frame on its way through a job. */
export interface JobFrame {
  seq: number;
  timeMs: number;
  image: ImageSize;
  pixels: RgbImage;
}

/** Every sample of an uploaded video after the last one that was published. */
export async function* fileSource(
  deps: RunJobDeps,
  job: JobRecord,
  { served, signal }: { served: ServedScene; signal: AbortSignal },
): AsyncGenerator<JobFrame, void> {
  const key = job.source.kind === 'object' ? job.source.key : '';
  const file = await persistently(() => deps.files.open(key, signal), signal);
  try {
    const { sandbox, killGraceMs } = deps.live;
    const probe = await probeFile(file.path, { timeoutMs: PROBE_MS, sandbox });
    if (!probe.isReadable) throw new SourceError(probe.reason);
    const { width, height } = probe;
    const after = job.lastSeq < 0 ? undefined : { seq: job.lastSeq, timeMs: job.lastTimeMs ?? 0 };
    yield* readFileFrames(file.path, {
      sampling: { fps: deps.live.sampling.fps, scaled: served.detector.fit({ width, height }) },
      ...{ image: { width, height }, after, sandbox, killGraceMs, signal, noFrameMs: deps.fileNoFrameMs },
    });
  } finally {
    file.release();
  }
}

/** The freshest frame of a live stream at each pull. Numbers go on where no worker before this one can have been. */
export async function* liveSource(
  deps: RunJobDeps,
  job: JobRecord,
  signal: AbortSignal,
): AsyncGenerator<JobFrame, void> {
  const { source, sceneCode: scene } = job;
  if (source.kind !== 'stream') return;
  const url = deps.box.open(source.sealedUrl, job.jobId);
  // The address was checked when the job was created. Who takes the job over later resolves anew.
  const pinnedAddress = job.attempt === 1 ? source.pinnedAddress : undefined;
  const watch = watchLive(
    {
      openInput: (isFirst, stop) => openLiveInput(deps.openLive, { url, pinnedAddress }, { isFirst, signal: stop }),
      now: deps.now,
      onRetry: (reason, pauseMs) => deps.signals.sourceRetried({ jobId: job.jobId, scene, reason, pauseMs }),
    },
    deps.live,
    signal,
  );
  let seq = job.reservedSeq;
  let dropped = 0;
  const unwatch = deps.signals.sourceWatched(() => watch.health().state);
  try {
    for await (const frame of watch.frames) {
      yield { seq, ...frame };
      seq += 1;
      deps.signals.framesDropped({ scene, frames: watch.health().dropped - dropped });
      dropped = watch.health().dropped;
    }
  } finally {
    unwatch();
  }
}
