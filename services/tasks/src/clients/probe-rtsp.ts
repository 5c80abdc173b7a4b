import { unlessAborted } from '@vision/shared/async/unless-aborted';
import type { StreamUrl } from '@vision/streams/stream-url';
import { ProbeError, withSocket } from './probe-socket.ts';
import type { ProbeSocket, ProbeTarget } from './probe-socket.ts';

/** A camera may ignore DESCRIBE without credentials, so silence here is no reason to refuse it. */
const DESCRIBE_WAIT_MS = 3_000;

/**
 * RTSP (RFC 2326): an answer to OPTIONS, and none of "not found" or "elsewhere" to DESCRIBE. No credentials are sent,
 * so 401 is fine. Redirects are refused: they lead to unchecked addresses.
 */
export async function probeRtsp({ url, address, connectMs, signal }: ProbeTarget): Promise<void> {
  await withSocket({ address, port: url.port, connectMs, signal }, async (socket) => {
    socket.send(request('OPTIONS', url, 1));
    check(await readStatus(socket));
    socket.send(request('DESCRIBE', url, 2));
    const described = await statusInTime(socket, signal);
    if (described === 404 || described === 410) throw new ProbeError('refused');
    if (described !== undefined) check(described);
  });
}

function request(method: string, url: StreamUrl, sequence: number): string {
  const host = url.host.includes(':') ? `[${url.host}]` : url.host;
  const target = `rtsp://${host}:${url.port}${url.pathAndQuery}`;
  const accept = method === 'DESCRIBE' ? 'Accept: application/sdp\r\n' : '';
  return `${method} ${target} RTSP/1.0\r\nCSeq: ${sequence}\r\n${accept}User-Agent: vision\r\n\r\n`;
}

/** The status of the next answer; its header and body are dropped. */
async function readStatus(socket: ProbeSocket): Promise<number> {
  const { status, length } = await socket.read((received) => {
    const text = received.toString('latin1');
    const start = 'RTSP/1.'.slice(0, text.length);
    if (!text.startsWith(start)) throw new ProbeError('not_a_stream');
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const head = text.slice(0, end);
    const [, code] = /^RTSP\/1\.\d (\d{3})(?: |\r|$)/.exec(head) ?? [];
    if (code === undefined) throw new ProbeError('not_a_stream');
    const body = Number(/\r\ncontent-length: *(\d{1,5})/i.exec(head)?.[1] ?? 0);
    return received.length >= end + 4 + body ? { status: Number(code), length: end + 4 + body } : undefined;
  });
  socket.drop(length);
  return status;
}

function check(status: number): void {
  if (status >= 300 && status < 400) throw new ProbeError('redirected');
  if (status >= 500) throw new ProbeError('refused');
}

/** Undefined when nothing comes in time or the camera closes the connection instead. */
async function statusInTime(socket: ProbeSocket, signal: AbortSignal): Promise<number | undefined> {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(DESCRIBE_WAIT_MS)]);
  try {
    return await unlessAborted(patience, readStatus(socket));
  } catch (error) {
    const isClosed = error instanceof ProbeError && error.fault === 'connection_lost';
    if (isClosed || patience.aborted) return undefined;
    throw error;
  }
}
