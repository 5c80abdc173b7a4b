import {
  ownerHeader,
  processorTimeHeader,
  processorTimesOf,
  refusal,
  streamProbeReply,
  streamProbesPath,
} from '@vision/contracts/inference';
import type { NewStreamProbe, StreamProbeReply } from '@vision/contracts/inference';
import { fail } from '@vision/contracts/errors';
import { bodyAs } from '@vision/shared/http/call';
import type { CallReply, CallRequest } from '@vision/shared/http/call';
import { opaque } from './opaque.ts';
import { expectBody, unavailableOn } from './replies.ts';

export interface ProbeInput {
  /** The subject that the probe is for; the backend learns a digest of it. */
  owner: string;
  probe: NewStreamProbe;
}

/** What the stream showed, undefined for a replica that has no probes, and the processor time it took. */
export interface ProbeOutcome {
  reply: StreamProbeReply | undefined;
  processorMs: number;
}

/** The backend ends the processes of a probe and detects its frame when the time of reading is over. */
const AFTER_READING_MS = 5_000;

type ProbeRequest = Omit<CallRequest, 'upstream' | 'url' | 'dispatcher'> & { path: string };

/** Asks the backend to read a stream. @throws as `InferenceClient.probeStream` */
export async function probeStream(
  { owner, probe }: ProbeInput,
  ask: (request: ProbeRequest) => Promise<CallReply>,
): Promise<ProbeOutcome> {
  const request = {
    operation: 'probe',
    method: 'POST' as const,
    path: streamProbesPath,
    json: probe,
    headers: { [ownerHeader]: opaque(owner) },
    timeoutMs: probe.within_ms + AFTER_READING_MS,
  };
  const answer = await unavailableOn(ask(request));
  const [processorMs = 0] = processorTimesOf(answer.headers[processorTimeHeader]);
  if (answer.status === 404) return { reply: undefined, processorMs };
  const refused = answer.status < 300 ? undefined : bodyAs(refusal, answer)?.reason;
  if (answer.status === 503 && refused !== undefined) {
    throw fail.upstreamDown('stream_probes_saturated', new Error(refused.slice(0, 500)));
  }
  if (refused === 'scene_unknown') throw fail.sceneUnavailable(probe.scene_code ?? '');
  return { reply: expectBody(streamProbeReply, answer), processorMs };
}
