import type { ImageSize, DetectedObject } from '@vision/contracts/detection';
import { streamProbeProblems, streamProbesFeature } from '@vision/contracts/inference';
import type { CapacityReply, Snapshot, StreamProbeReply } from '@vision/contracts/inference';

/** Why a reachable stream gave no frame, with one sentence of advice. */
export const probeAdvice = {
  auth_failed: 'Check the user name and the password in the address, and that this account may view the stream.',
  codec_unsupported: 'Set the camera to H.264 or H.265.',
  no_video_track: 'Use the address of a video stream: this one has no video track.',
  no_frame:
    'Check that the address plays in a video player. A camera that sends a key frame every 2 seconds or more often is ' +
    'seen sooner.',
  not_supported:
    'The stream answered. The inference backend cannot read it for a probe; create a task to see its frames.',
} as const;

export type ProbeProblem = keyof typeof probeAdvice;

/** The answer to a probe. */
export interface StreamProbeView {
  codec?: string | undefined;
  image?: ImageSize | undefined;
  fps?: number | undefined;
  snapshot?: Snapshot | undefined;
  objects?: DetectedObject[] | undefined;
  capacity?: 'available' | 'none' | undefined;
  problem?: { reason: ProbeProblem; advice: string } | undefined;
}

/** Whether the backend supports probes. */
export const readsStreams = (told: CapacityReply | undefined): boolean =>
  told?.features?.includes(streamProbesFeature) ?? false;

/**
 * The public reason for a missing frame. Over HTTP only a host other than that of the handshake can refuse the
 * credentials, so that reason is not disclosed.
 */
export function problemOf(
  { scheme }: { scheme: string },
  reply: StreamProbeReply | undefined,
): ProbeProblem | undefined {
  if (!reply) return 'not_supported';
  if (!reply.problem) return reply.image ? undefined : 'no_frame';
  const reason = streamProbeProblems.find((known) => known === reply.problem?.reason) ?? 'no_frame';
  return reason === 'auth_failed' && scheme.startsWith('http') ? 'no_frame' : reason;
}

/** The public answer for a stream. */
export function viewOf(
  reply: StreamProbeReply | undefined,
  problem: ProbeProblem | undefined,
  told: CapacityReply | undefined,
): StreamProbeView {
  const capacity = told && (told.free.stream > 0 ? ('available' as const) : ('none' as const));
  if (problem !== undefined) return { capacity, problem: { reason: problem, advice: probeAdvice[problem] } };
  const { codec, image, fps, snapshot, objects } = reply ?? {};
  return { codec, image, fps, snapshot, objects, capacity };
}
