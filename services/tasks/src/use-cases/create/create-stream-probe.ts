import type { NewStreamProbe } from '@vision/contracts/inference';
import type { SceneEntry } from '@vision/contracts/scenes';
import type { Caller } from '@vision/shared/http/caller';
import type { StreamUrl } from '@vision/streams/stream-url';
import { problemOf, readsStreams, viewOf } from '../../domain/stream-probe.ts';
import type { StreamProbeView } from '../../domain/stream-probe.ts';
import { assertOpen } from './assert-accepts-new.ts';
import type { Deps } from '../deps.ts';
import { inProbe, reachStream } from './probe-stream.ts';
import { requireScene } from './submit-task.ts';

export type StreamProbeDeps = Pick<
  Deps,
  'inference' | 'slots' | 'probe' | 'probeLimits' | 'scenes' | 'settings' | 'signals' | 'streamProbeLimits'
>;

export interface StreamProbeRequest {
  caller: Caller;
  url: StreamUrl;
  sceneCode: string | undefined;
}

/** The answer to a probe, and the processor time that the backend spent on it. */
export interface StreamProbed {
  view: StreamProbeView;
  processorMs: number;
}

/** Time that the backend needs to end the processes of a probe. */
const ENDING_MS = 1_500;
const LEAST_READ_MS = 500;
const MOST_READ_MS = 10_000;

/**
 * Reads a stream briefly, without a task or a unit. Until the handshake with the peer has succeeded, it fails like a
 * create request; later network failures are answered with the same delay.
 * @throws AppError like a create request, except errors of quota.
 */
export async function createStreamProbe(
  deps: StreamProbeDeps,
  { caller, url, sceneCode }: StreamProbeRequest,
): Promise<StreamProbed> {
  assertOpen(deps, caller);
  const scene = sceneCode === undefined ? undefined : requireScene(deps, sceneCode);
  const capacity = await deps.slots.capacity();
  const { subject } = caller;
  const probed = () =>
    inProbe(deps, subject, async (time) => {
      const address = await reachStream(deps, { url }, time);
      if (!readsStreams(capacity)) return { view: viewOf(undefined, 'not_supported', capacity), processorMs: 0 };
      const readMs = Math.floor(time.leftMs() - ENDING_MS);
      // After a slow handshake, the time of the answer must not reveal the next failure to the peer.
      if (readMs < LEAST_READ_MS) {
        await time.holdBack();
        return { view: viewOf(undefined, 'no_frame', capacity), processorMs: 0 };
      }
      const probe = requestOf(deps, { url, address, scene }, readMs);
      const { reply, processorMs } = await deps.inference.probeStream({ owner: subject, probe });
      const problem = problemOf(url, reply);
      if (problem === 'no_frame') await time.holdBack();
      return { view: viewOf(reply, problem, capacity), processorMs };
    });
  return deps.streamProbeLimits.run(subject, probed);
}

function requestOf(
  { settings }: Pick<Deps, 'settings'>,
  { url, address, scene }: { url: StreamUrl; address: string; scene: SceneEntry | undefined },
  readMs: number,
): NewStreamProbe {
  return {
    url: url.href,
    pinned_address: address,
    scene_code: scene?.scene_code,
    min_score: scene?.default_min_score,
    snapshot: settings.probeSnapshots && scene?.snapshots !== 'off',
    within_ms: Math.min(MOST_READ_MS, readMs),
  };
}
