import { duringOutages, retryUntil } from '@vision/shared/async/retry-until';
import type { ImageSize } from '@vision/contracts/detection';
import { untraced } from '@vision/shared/telemetry/trace-context';
import { readFileFrames } from '../decoding/file-frames.ts';
import { watchLive } from '../decoding/live-frames.ts';
import type { LiveDeps, LiveWatch } from '../decoding/live-frames.ts';
import type { DecoderListener } from '../decoding/decoder.ts';
import { probeFile } from '../decoding/probe-file.ts';
import { raiseCeiling, recordRate } from '../db/held-jobs.ts';
import type { ServedScene } from '../detectors/detectors.ts';
import type { JobRecord } from '../domain/job.ts';
import type { LargeFrame } from '../domain/choose-snapshots.ts';
import { decodeLimits } from '../domain/file-budget.ts';
import { boundedFit } from '../domain/frame-fit.ts';
import type { RgbImage } from '../domain/rgb-image.ts';
import { shortageOf, shortagePause } from '../domain/shortage.ts';
import { SourceError } from '@vision/streams/source-error';
import { openLiveInput } from '../readers/open-live-input.ts';
import type { Deps } from '../use-cases/deps.ts';
import type { LiveSnapshotHolder } from '../use-cases/live-snapshots.ts';
import type { SourceReport } from '../use-cases/source-reports.ts';
import { createFrameNumbers } from './frame-numbers.ts';
import type { FrameNumbers } from './frame-numbers.ts';
import { factsOf, giveUpMsOf, parkMsOf } from './source-facts.ts';
import type { SourceView } from './source-facts.ts';

const PROBE_MS = 10_000;

/** A frame in processing. */
export interface JobFrame {
  seq: number;
  timeMs: number;
  image: ImageSize;
  pixels: RgbImage;
}

export type FrameDeps = Pick<
  Deps,
  | 'addresses'
  | 'box'
  | 'certificates'
  | 'db'
  | 'drops'
  | 'files'
  | 'liveCosts'
  | 'liveSnapshots'
  | 'sandbox'
  | 'settings'
  | 'signals'
>;

export interface FramesWanted {
  job: JobRecord;
  served: ServedScene;
  /** Ends the frames. */
  signal: AbortSignal;
  /** Receives the state changes of the source. */
  report: SourceReport;
  /** Receives frames in the size of snapshots; undefined for a job without snapshots. */
  onLarge?: ((frame: LargeFrame) => void) | undefined;
}

/** The frames of a job's source that this attempt must process. @throws SourceError when the source has none. */
export function framesOf(deps: FrameDeps, wanted: FramesWanted): AsyncGenerator<JobFrame, void> {
  const { source } = wanted.job;
  return source.kind === 'object' ? framesOfFile(deps, source, wanted) : framesOfStream(deps, source, wanted);
}

type ObjectSource = Extract<JobRecord['source'], { kind: 'object' }>;
type StreamSource = Extract<JobRecord['source'], { kind: 'stream' }>;

/** Every sample of an uploaded video after the last one that was published. */
async function* framesOfFile(
  { files, sandbox, settings, signals }: FrameDeps,
  { key }: ObjectSource,
  { job, served, signal, report, onLarge }: FramesWanted,
): AsyncGenerator<JobFrame, void> {
  const { fileNoFrameMs, live, snapshotMaxSide } = settings;
  const retries = { signal, pauseAfter: fewShortages(settings.shortageRetryMs) };
  const file = await retryUntil(() => files.open(key, signal), retries);
  try {
    const probe = await retryUntil(() => probeFile(file.path, { timeoutMs: PROBE_MS, sandbox }), retries);
    if (!probe.isReadable) {
      signals.videoRefused(probe.reason, probe.detail);
      throw new SourceError(probe.reason);
    }
    const image = { width: probe.width, height: probe.height };
    const { codec, playedMs: durationMs } = probe;
    report.watch(() => ({ state: 'processing', codec, image, sampleFps: live.sampling.fps, durationMs }));
    const frames = readFileFrames(file.path, {
      sampling: {
        fps: live.sampling.fps,
        scaled: served.detector.fit(image),
        turn: probe.turn,
        hasEdits: probe.hasEdits,
        snapshots: onLarge && { maxSide: snapshotMaxSide },
      },
      onSnapshot: onLarge,
      image,
      limits: decodeLimits(probe.playedMs),
      after: job.lastSeq < 0 ? undefined : { seq: job.lastSeq, timeMs: job.lastTimeMs ?? 0 },
      noFrameMs: fileNoFrameMs,
      killGraceMs: live.killGraceMs,
      sandbox,
      signal,
    });
    for await (const frame of frames) {
      signals.framesRead('file', 1);
      yield frame;
    }
  } finally {
    file.release();
  }
}

/** Retries without limit while a store is unavailable, but only a few times when this machine lacks a resource. */
function fewShortages(firstMs: number): (error: unknown, failures: number) => number | undefined {
  let shortages = 0;
  return (error, failures) => {
    if (shortageOf(error) === undefined) return duringOutages(error, failures);
    shortages += 1;
    return shortagePause(firstMs, shortages);
  };
}

/**
 * The newest frame of a live stream at each pull. Its number is above all that an earlier worker can have used, and
 * below those of a later one; a frame that gets no number in time is dropped.
 */
async function* framesOfStream(
  deps: FrameDeps,
  source: StreamSource,
  wanted: FramesWanted,
): AsyncGenerator<JobFrame, void> {
  const { job, served, report } = wanted;
  const seen: SourceView = { isBehind: false, video: undefined };
  const meter = deps.liveCosts.watch({
    detectMs: (image) => served.detector.costMs(image),
    onBehind: (isBehind) => {
      seen.isBehind = isBehind;
      noteRate(deps, job, isBehind);
    },
    onLowered: (cores) => deps.signals.decoderLowered(job, Math.round(cores * 100) / 100),
  });
  const decoderListener: DecoderListener = {
    started: meter.decoder.started,
    sees: (video) => {
      seen.video = video;
      meter.decoder.sees(video);
    },
  };
  const holder = job.hasSnapshots ? deps.liveSnapshots.open(job) : undefined;
  const snapshots = snapshotsTo(deps, holder, wanted);
  const watch = watchSource(deps, source, { ...wanted, decoderListener, snapshots });
  const { live } = deps.settings;
  report.watch(() => factsOf(watch.health(), seen, { sampleFps: live.sampling.fps, giveUpMs: giveUpMsOf(job, live) }));
  const numbers = numbersOf(deps, wanted);
  const endWatch = deps.signals.sourceWatched(() => watch.health().state);
  let [dropped, overdue] = [0, 0];
  try {
    for await (const { timeMs, image, pixels } of watch.frames) {
      const seq = await numbers.next();
      if (seq !== undefined) yield { seq, timeMs, image, pixels };
      else if (!wanted.signal.aborted) dropFrames(deps, wanted, { frames: 1, reason: 'no_number' });
      const health = watch.health();
      const passedOver = health.dropped - dropped;
      const waited = health.overdue - overdue;
      [dropped, overdue] = [health.dropped, health.overdue];
      meter.frameTaken({ waited, atOnce: passedOver - waited });
      deps.signals.framesRead('live', 1 + passedOver);
      deps.signals.framesDropped(job, passedOver, 'fresher');
      report.dropped('fresher', passedOver);
    }
  } finally {
    endWatch();
    meter.end();
    holder?.close();
  }
}

/** Passes each snapshot to the holder of the newest frame, and to the choice of images of tracks. */
function snapshotsTo(
  { signals }: FrameDeps,
  holder: LiveSnapshotHolder | undefined,
  { onLarge }: FramesWanted,
): LiveDeps['snapshots'] {
  if (!holder) return undefined;
  return {
    onSnapshot: (snapshot) => {
      holder.put(snapshot);
      onLarge?.(snapshot);
    },
    onLate: () => signals.snapshots('late'),
  };
}

/** Reports the rate in the log and in the job; only in the log when the database is unavailable. */
function noteRate({ db, signals }: FrameDeps, job: JobRecord, isBehind: boolean): void {
  signals.liveRateChanged(job, isBehind);
  untraced(() => recordRate(db, job, isBehind)).catch((error: unknown) => signals.rateNotStored(job, error));
}

/** Counts frames that were read and will not be published, in the metrics and in the health of the job. */
export function dropFrames(
  { drops, signals }: Pick<Deps, 'drops' | 'signals'>,
  { job, report }: Pick<FramesWanted, 'job' | 'report'>,
  { frames, reason }: { frames: number; reason: 'no_number' | 'not_held' | 'unsent' },
): void {
  drops.add(job, frames);
  report.dropped(reason, frames);
  signals.framesDropped(job, frames, reason);
}

function numbersOf({ db, settings, signals }: FrameDeps, { job, signal }: FramesWanted): FrameNumbers {
  const { seqStep, seqWaitMs } = settings;
  return createFrameNumbers({
    first: job.reservedSeq,
    // `markRunning` stored this value before the first frame was pulled.
    ceiling: job.reservedSeq + seqStep,
    step: seqStep,
    waitMs: seqWaitMs,
    // It runs for as long as the stream, so it belongs to no trace.
    raise: (ceiling) => untraced(() => raiseCeiling(db, job, { ceiling, timeoutMs: seqWaitMs })),
    onExhausted: (error) => signals.numbersExhausted(job, error),
    signal,
  });
}

function watchSource(
  { addresses, box, certificates, sandbox, settings, signals }: FrameDeps,
  source: StreamSource,
  { job, served, signal, decoderListener, snapshots }: FramesWanted & Pick<LiveDeps, 'decoderListener' | 'snapshots'>,
): LiveWatch {
  const { live, decodeMaxSide, snapshotMaxSide } = settings;
  const sampling = {
    fps: live.sampling.fps,
    fit: boundedFit(served.detector.frameFit, decodeMaxSide),
    snapshots: snapshots && { maxSide: snapshotMaxSide },
  };
  const { sourceOpenMs: openTimeoutMs, sourceLeaveMs: leaveMs } = settings;
  const opening = { addresses, sandbox, openTimeoutMs, leaveMs, ca: certificates };
  const address = {
    url: box.open(source.sealedUrl, job.jobId),
    // Checked when the job was created. A worker that takes the job over later resolves the name again.
    pinnedAddress: job.attempt === 1 ? source.pinnedAddress : undefined,
    usage: {},
  };
  return watchLive(
    {
      sandbox,
      before: { hadFrames: job.framesPublished > 0, awayMs: job.awayMs },
      openInput: (isFirst, stop) => openLiveInput(opening, address, { isFirst, signal: stop }),
      decoderListener,
      snapshots,
      onRetry: (reason, pauseMs) => signals.sourceRetried(job, reason, pauseMs),
    },
    {
      ...live,
      sampling,
      giveUpMs: giveUpMsOf(job, live),
      parkMs: parkMsOf(job, settings),
    },
    signal,
  );
}
