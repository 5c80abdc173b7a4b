import { unlessAborted } from '@vision/shared/async/unless-aborted';
import { createBudget } from '@vision/streams/budget';
import { createRtspConnection } from '@vision/streams/rtsp-connection';
import type { RtspConnection } from '@vision/streams/rtsp-connection';
import { statusOf } from '@vision/streams/rtsp-message';
import { SourceError } from '@vision/streams/source-error';
import { ProbeError, withConnection } from './probe-target.ts';
import type { ProbeTarget } from './probe-target.ts';

/** The timeout of the whole probe is shorter. */
const ANSWER_MS = 60_000;
/** A camera may ignore DESCRIBE without credentials, so silence here is accepted. */
const DESCRIBE_WAIT_MS = 3_000;

/**
 * RTSP (RFC 2326): accepts any answer to OPTIONS, which servers need not support, unless DESCRIBE fails. No credentials
 * are sent, so 401 is accepted. Redirects are refused: they lead to unchecked addresses.
 */
export async function probeRtsp(target: ProbeTarget): Promise<void> {
  const { url, signal } = target;
  const uri = `rtsp://${url.authority}${url.pathAndQuery}`;
  await withConnection(target, async (socket) => {
    const budget = createBudget({ signal });
    const camera = createRtspConnection(socket, { credentials: undefined, answerTimeoutMs: ANSWER_MS, budget });
    await statusFor(camera, 'OPTIONS', uri);
    const described = await statusInTime(camera, uri, signal);
    if (described === 404 || described === 410 || described >= 500) throw new ProbeError('refused');
  });
}

async function statusFor(camera: RtspConnection, method: string, uri: string): Promise<number> {
  const accept: [string, string][] = method === 'DESCRIBE' ? [['Accept', 'application/sdp']] : [];
  return statusOf(await camera.request(method, uri, accept)) ?? 0;
}

/** 0 when no answer comes in time or the camera closes the connection instead. */
async function statusInTime(camera: RtspConnection, uri: string, signal: AbortSignal): Promise<number> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(DESCRIBE_WAIT_MS)]);
  try {
    return await unlessAborted(patience, statusFor(camera, 'DESCRIBE', uri));
  } catch (error) {
    const isAnswer = error instanceof SourceError && error.reason !== 'connection_failed';
    if (patience.aborted || !isAnswer) return 0;
    throw error;
  }
}
