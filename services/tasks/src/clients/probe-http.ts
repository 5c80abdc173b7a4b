import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { answerChallenge } from '@vision/streams/digest-auth';
import { looksLikeStream } from '../domain/stream-content.ts';
import type { StreamUrl } from '@vision/streams/stream-url';
import { ProbeError } from './probe-socket.ts';
import type { ProbeTarget } from './probe-socket.ts';

/**
 * First bytes that are looked at, and how long after the first of them the rest is waited for: some streams begin
 * slowly.
 */
const SNIFF_BYTES = 512;
const SNIFF_MS = 1_000;

/**
 * GET with credentials as Basic authentication, and once more where the server wants them as Digest: a status below
 * 300 and a beginning that is a stream or a playlist. A redirect is refused: it leads to an address that was not
 * checked, and the backend does not follow it either.
 */
export async function probeHttp(target: ProbeTarget): Promise<void> {
  const challenges = await look(target, authorizationFor(target.url, ['Basic']));
  if (challenges === undefined) return;
  const isDigest = challenges.some((challenge) => /^digest\s/i.test(challenge));
  const answer = isDigest ? authorizationFor(target.url, challenges) : undefined;
  if (answer === undefined || (await look(target, answer)) !== undefined) throw new ProbeError('refused');
}

/** One GET. Undefined when a stream was seen, what the server asks for when it wants to know who is there. */
async function look(target: ProbeTarget, authorization: string | undefined): Promise<string[] | undefined> {
  target.signal.throwIfAborted();
  const sending = send(target, authorization);
  sending.on('error', () => undefined);
  const connectTimer = setTimeout(() => sending.destroy(new ProbeError('connect_failed')), target.connectMs);
  const onAbort = () => sending.destroy(target.signal.reason as Error);
  target.signal.addEventListener('abort', onAbort, { once: true });
  sending.on('socket', (socket) => {
    socket.once(target.url.scheme === 'https' ? 'secureConnect' : 'connect', () => clearTimeout(connectTimer));
  });
  try {
    const reply = await replyOf(sending);
    if (reply.statusCode === 401) return reply.headersDistinct['www-authenticate'] ?? [];
    checkStatus(reply.statusCode ?? 0);
    const type = reply.headers['content-type'];
    if (!looksLikeStream(await firstBytes(reply), type)) throw new ProbeError('not_a_stream');
    return undefined;
  } finally {
    clearTimeout(connectTimer);
    target.signal.removeEventListener('abort', onAbort);
    sending.destroy();
  }
}

function authorizationFor({ user, password, pathAndQuery }: StreamUrl, challenges: string[]): string | undefined {
  if (user === '' && password === '') return undefined;
  return answerChallenge(challenges, { user, password }, { method: 'GET', uri: pathAndQuery });
}

function send({ url, address, ca }: ProbeTarget, authorization: string | undefined): ClientRequest {
  const start = url.scheme === 'https' ? httpsRequest : httpRequest;
  const host = url.host.includes(':') ? `[${url.host}]` : url.host;
  const sending = start({
    // The address that was checked; the name appears only in Host and in the TLS handshake.
    host: address,
    port: url.port,
    path: url.pathAndQuery,
    method: 'GET',
    agent: false,
    ...(url.scheme === 'https' && isIP(url.host) === 0 ? { servername: url.host.replace(/\.$/, '') } : {}),
    ...(ca === undefined ? {} : { ca }),
    headers: {
      host: `${host}:${url.port}`,
      accept: '*/*',
      'user-agent': 'vision',
      connection: 'close',
      ...(authorization === undefined ? {} : { authorization }),
    },
  });
  sending.end();
  return sending;
}

function replyOf(sending: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sending.once('response', resolve);
    // An answer that switches protocols (101) ends the request with neither a response nor an error.
    sending.once('close', () => reject(new ProbeError('not_a_stream')));
    sending.once('error', (error: Error & { code?: unknown }) => {
      // An abort has a number for its code.
      const code = String(error.code);
      if (error instanceof ProbeError) reject(error);
      else if (code === 'ECONNREFUSED') reject(new ProbeError('connect_failed', error));
      else if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_SSL|EPROTO/.test(code))
        reject(new ProbeError('tls_invalid', error));
      else reject(new ProbeError(code.startsWith('HPE_') ? 'not_a_stream' : 'connection_lost', error));
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
