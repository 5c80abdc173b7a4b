import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { looksLikeStream } from '../domain/stream-content.ts';
import { ProbeError } from './probe-socket.ts';
import type { ProbeTarget } from './probe-socket.ts';

/** First bytes that are looked at, and how long after the first of them the rest is waited for: some streams begin slowly. */
const SNIFF_BYTES = 512;
const SNIFF_MS = 1_000;

/**
 * One GET with credentials as Basic authentication: a status below 300 and a beginning that is a stream or a playlist.
 * A redirect is refused: it leads to an address that nobody checked, and the backend does not follow it either.
 */
export async function probeHttp(target: ProbeTarget): Promise<void> {
  const sending = send(target);
  sending.on('error', () => undefined);
  const connectTimer = setTimeout(() => sending.destroy(new ProbeError('connect_failed')), target.connectMs);
  const onAbort = () => sending.destroy(target.signal.reason as Error);
  target.signal.addEventListener('abort', onAbort, { once: true });
  sending.on('socket', (socket) => {
    socket.once(target.url.scheme === 'https' ? 'secureConnect' : 'connect', () => clearTimeout(connectTimer));
  });
  try {
    const reply = await replyOf(sending);
    checkStatus(reply.statusCode ?? 0);
    const type = reply.headers['content-type'];
    if (!looksLikeStream(await firstBytes(reply), type)) throw new ProbeError('not_a_stream');
  } finally {
    clearTimeout(connectTimer);
    target.signal.removeEventListener('abort', onAbort);
    sending.destroy();
  }
}

function send({ url, address, ca }: ProbeTarget): ClientRequest {
  const start = url.scheme === 'https' ? httpsRequest : httpRequest;
  const host = url.host.includes(':') ? `[${url.host}]` : url.host;
  const hasCredentials = url.user !== '' || url.password !== '';
  const sending = start({
    // The address that was checked; the name appears only in Host and in the TLS handshake.
    host: address,
    port: url.port,
    path: url.pathAndQuery,
    method: 'GET',
    agent: false,
    ...(url.scheme === 'https' && isIP(url.host) === 0 ? { servername: url.host.replace(/\.$/, '') } : {}),
    ...(ca === undefined ? {} : { ca }),
    headers: { host: `${host}:${url.port}`, accept: '*/*', 'user-agent': 'vision', connection: 'close' },
    ...(hasCredentials ? { auth: `${url.user}:${url.password}` } : {}),
  });
  sending.end();
  return sending;
}

function replyOf(sending: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sending.once('response', resolve);
    sending.once('error', (error: NodeJS.ErrnoException) => {
      if (error instanceof ProbeError) reject(error);
      else if (error.code === 'ECONNREFUSED') reject(new ProbeError('connect_failed', error));
      else if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_SSL|EPROTO/.test(error.code ?? ''))
        reject(new ProbeError('tls_invalid', error));
      else reject(new ProbeError(error.code?.startsWith('HPE_') ? 'not_a_stream' : 'connection_lost', error));
    });
  });
}

function checkStatus(status: number): void {
  if (status >= 300 && status < 400) throw new ProbeError('redirected');
  if (status < 200 || status >= 400) throw new ProbeError('refused');
}

function firstBytes(reply: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let timer: NodeJS.Timeout | undefined;
    const finish = () => {
      clearTimeout(timer);
      reply.pause();
      resolve(Buffer.concat(chunks).subarray(0, SNIFF_BYTES));
    };
    reply.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      timer ??= setTimeout(finish, SNIFF_MS);
      if (chunks.reduce((size, { length }) => size + length, 0) >= SNIFF_BYTES) finish();
    });
    reply.once('end', finish);
    reply.once('error', (error) => {
      clearTimeout(timer);
      reject(error instanceof ProbeError ? error : new ProbeError('connection_lost', error));
    });
  });
}
