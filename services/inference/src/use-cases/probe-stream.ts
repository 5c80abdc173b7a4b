import { GateFullError } from '@vision/shared/async/gate';
import type { NewStreamProbe, StreamProbeReply } from '@vision/contracts/inference';
import { asAppError } from '@vision/contracts/errors';
import { runInTurn } from '@vision/shared/upstream/queue-span';
import { probeLive } from '../decoding/probe-live.ts';
import type { LiveProbe } from '../decoding/probe-live.ts';
import type { ServedScene } from '../detectors/detectors.ts';
import { probeProblemOf } from '../domain/probe-problem.ts';
import type { ProbeProblem } from '../domain/probe-problem.ts';
import type { Deps } from './deps.ts';

export type ProbeStreamDeps = Pick<
  Deps,
  | 'addresses'
  | 'certificates'
  | 'detectors'
  | 'encodeJpeg'
  | 'openLiveInput'
  | 'probeGate'
  | 'sandbox'
  | 'settings'
  | 'signals'
>;

export interface ProbeStreamInput {
  probe: NewStreamProbe;
  /** Probes of different owners share the slots. */
  owner: string | undefined;
  signal: AbortSignal;
}

export type ProbeStreamOutcome =
  | { kind: 'probed'; reply: StreamProbeReply; problem?: ProbeProblem; processorMs: number }
  | { kind: 'scene_unknown' }
  /** Every slot is taken. */
  | { kind: 'saturated' }
  /** The backend is at fault. */
  | { kind: 'unavailable'; reason: string; processorMs?: number };

/** Longest time for the detection of the frame. */
const DETECT_MS = 3_000;

/** Reads a live stream for a moment, without a job. The frame is answered and never stored. */
export async function probeStream(deps: ProbeStreamDeps, input: ProbeStreamInput): Promise<ProbeStreamOutcome> {
  const outcome = await inSlot(deps, input);
  const problem = outcome.kind === 'probed' ? (outcome.problem ?? 'frame') : outcome.kind;
  deps.signals.streamProbed(problem);
  return outcome;
}

async function inSlot(deps: ProbeStreamDeps, input: ProbeStreamInput): Promise<ProbeStreamOutcome> {
  const { scene_code: sceneCode } = input.probe;
  const served = sceneCode === undefined ? undefined : deps.detectors.find(sceneCode);
  if (sceneCode !== undefined && !served) return { kind: 'scene_unknown' };
  if (!deps.sandbox.canRun) return { kind: 'unavailable', reason: 'sandbox_unavailable' };
  const { owner, signal } = input;
  try {
    return await runInTurn(deps.probeGate, 'stream probes', () => read(deps, served, input), { owner, signal });
  } catch (error) {
    if (error instanceof GateFullError) return { kind: 'saturated' };
    throw error;
  }
}

async function read(
  deps: ProbeStreamDeps,
  served: ServedScene | undefined,
  { probe, owner, signal }: ProbeStreamInput,
): Promise<ProbeStreamOutcome> {
  const { settings, sandbox, certificates: ca } = deps;
  const openTimeoutMs = Math.min(settings.sourceOpenMs, probe.within_ms);
  const source = { url: probe.url, pinnedAddress: probe.pinned_address, usage: {} };
  const seen = await probeLive({
    sandbox,
    open: (ended, onStarted) => {
      const opening = {
        addresses: deps.addresses,
        sandbox,
        openTimeoutMs,
        leaveMs: settings.sourceLeaveMs,
        ca,
        onStarted,
      };
      return deps.openLiveInput(opening, source, { isFirst: true, signal: ended });
    },
    longestSide: settings.decodeMaxSide,
    withinMs: probe.within_ms,
    signal,
  });
  if (!seen.frame) {
    const problem = probeProblemOf(seen.reason ?? 'stream_ended');
    return { kind: 'probed', reply: { problem: { reason: problem } }, problem, processorMs: seen.processorMs };
  }
  const { image, pixels } = seen.frame;
  const startedAt = performance.now();
  // One thread encodes, so it takes no more processor time than time.
  const jpeg = probe.snapshot ? await deps.encodeJpeg(pixels) : undefined;
  const encodedMs = Math.round(performance.now() - startedAt);
  const snapshot = jpeg && { media_type: 'image/jpeg' as const, data: jpeg.toString('base64') };
  const spent = { processorMs: seen.processorMs + encodedMs };
  if (!served) return { kind: 'probed', reply: { ...factsOf(seen), snapshot }, ...spent };
  spent.processorMs += Math.round(served.detector.costMs(image));
  try {
    const objects = await served.detector.detect(pixels, {
      minScore: probe.min_score ?? served.scene.lower_bound,
      labels: served.scene.labels,
      owner,
      signal: AbortSignal.any([signal, AbortSignal.timeout(DETECT_MS)]),
    });
    return { kind: 'probed', reply: { ...factsOf(seen), snapshot, objects }, ...spent };
  } catch (error) {
    const reason = signal.aborted ? undefined : reasonOf(error);
    if (reason === undefined) throw error;
    return { kind: 'unavailable', reason, ...spent };
  }
}

function factsOf({ video, frame, fps }: LiveProbe): StreamProbeReply {
  return { codec: video?.codec, image: frame?.image, fps };
}

/** Why the frame was not detected, where the backend is at fault. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'detection_too_slow';
  const known = asAppError(error);
  return known?.kind === 'unavailable' ? known.reason : undefined;
}
