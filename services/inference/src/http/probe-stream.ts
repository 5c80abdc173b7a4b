import { z } from 'zod';
import {
  newStreamProbe,
  ownerHeader,
  processorTimeHeader,
  refusal,
  streamProbeReply,
  streamProbesPath,
} from '@vision/contracts/inference';
import { route } from '@vision/shared/http/route';
import type { Reply } from '@vision/shared/http/route';
import { probeStream } from '../use-cases/probe-stream.ts';
import type { ProbeStreamDeps, ProbeStreamOutcome } from '../use-cases/probe-stream.ts';

const RETRY_AFTER_S = 5;

export const probeStreamRoute = (deps: ProbeStreamDeps) =>
  route(
    {
      operation: 'probeStream',
      method: 'post',
      path: streamProbesPath,
      summary: 'Reads a live stream for a moment, without a job',
      description:
        'Optional: a backend that has it names `stream_probes` in the `features` of its capacity. The frame is ' +
        'answered and never stored or logged. Reading ends after `within_ms` at the latest, and with the client.',
      audience: 'backend',
      // Only reads: no caller needs the answer after the deadline.
      endsWithDeadline: true,
      // Parsed here: what does not fit is a refusal of the contract (422), not a 400.
      body: z.unknown(),
      responses: {
        200: { description: 'The stream, or why it gave no frame.', schema: streamProbeReply },
        422: { description: 'The request is invalid, or no model serves its scene.', schema: refusal },
        503: { description: 'Overloaded or without a model.', schema: refusal },
      },
    },
    async ({ body, req, signal }) => {
      const probe = newStreamProbe.safeParse(body);
      if (!probe.success) return { status: 422, body: { reason: 'request_invalid' } };
      const owner = req.get(ownerHeader)?.slice(0, 64);
      return toReply(await probeStream(deps, { probe: probe.data, owner, signal }));
    },
  );

function toReply(outcome: ProbeStreamOutcome): Reply {
  switch (outcome.kind) {
    case 'probed':
      return { status: 200, body: outcome.reply, headers: costOf(outcome) };
    case 'scene_unknown':
      return { status: 422, body: { reason: 'scene_unknown' } };
    case 'saturated':
      return unavailable('saturated', {});
    case 'unavailable':
      return unavailable(outcome.reason, costOf(outcome));
  }
}

const costOf = ({ processorMs = 0 }: { processorMs?: number }) => ({ [processorTimeHeader]: String(processorMs) });

const unavailable = (reason: string, headers: Record<string, string>): Reply => ({
  status: 503,
  body: { reason },
  headers: { ...headers, 'Retry-After': String(RETRY_AFTER_S) },
});
