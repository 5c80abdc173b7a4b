import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import type { Budget } from './budget.ts';
import { answerChallenge } from './digest-auth.ts';
import type { Credentials } from './digest-auth.ts';
import type { StreamUrl } from './stream-url.ts';
import { withinTime } from './within-time.ts';

// An import statement would also load what Node.js puts beside it, fetch and WebSocket: half of a reader's start.
const { request } = process.getBuiltinModule('node:http');

/** Makes a connection to a host whose name was resolved and checked. */
export type Connect = (endpoint: Pick<StreamUrl, 'host' | 'port'>, signal: AbortSignal) => Promise<Socket>;

export interface GetOptions {
  connect: Connect;
  credentials: Credentials | undefined;
  /** Certificates to trust instead of those of Node.js. */
  ca?: string | undefined;
  /** Milliseconds; the TLS handshake and the response together may take twice as long. */
  openTimeoutMs: number;
  budget: Budget;
  signal: AbortSignal;
}

/** Error code for a response that switches to another protocol without a request for it. */
export const SWITCHED_PROTOCOLS = 'ERR_SWITCHED_PROTOCOLS';

/**
 * The response to a GET over a new connection, of any status; repeated once when the server requires the credentials
 * as Digest (RFC 7616). Name and certificate checks are those of the URL. Only HTTP/1.1 of Node.js: a second protocol
 * would be a second parser.
 *
 * @throws SourceError `timeout`; what `connect` throws; errors of Node.js with their codes, SWITCHED_PROTOCOLS
 */
export async function httpGet(url: StreamUrl, options: GetOptions): Promise<IncomingMessage> {
  const { credentials } = options;
  const basic = credentials && answerChallenge(['Basic'], credentials, { method: 'GET', uri: '' });
  const answer = await ask(url, basic, options);
  const digest = answer.statusCode === 401 ? digestFor(url, credentials, answer) : undefined;
  if (digest === undefined) return answer;
  drop(answer);
  return ask(url, digest, options);
}

/** Discards a response and closes its connection. */
export function drop(answer: IncomingMessage): void {
  answer.on('error', () => undefined).destroy();
}

async function ask(url: StreamUrl, authorization: string | undefined, options: GetOptions): Promise<IncomingMessage> {
  const { connect, openTimeoutMs, signal } = options;
  const raw = await connect(url, signal);
  const giveUp = () => void raw.destroy();
  signal.addEventListener('abort', giveUp, { once: true });
  raw.once('close', () => signal.removeEventListener('abort', giveUp));
  try {
    // Interim responses (1xx) prove nothing, so one limit covers the TLS handshake and the response.
    return await withinTime(answerOver(raw, url, { ...options, authorization }), 2 * openTimeoutMs, giveUp);
  } catch (error) {
    giveUp();
    throw error;
  }
}

interface Asking extends Pick<GetOptions, 'budget' | 'ca'> {
  authorization: string | undefined;
}

async function answerOver(
  raw: Socket,
  url: StreamUrl,
  { authorization, budget, ca }: Asking,
): Promise<IncomingMessage> {
  const socket = url.scheme === 'https' ? await secured(raw, url, ca) : raw;
  const asking = request({
    createConnection: () => socket,
    method: 'GET',
    // As it was sent, dots included: the answer to a Digest challenge covers it.
    path: url.pathAndQuery,
    headers: {
      host: url.authority,
      accept: '*/*',
      'user-agent': 'vision',
      ...(authorization === undefined ? {} : { authorization }),
    },
  });
  // Errors after the response begins appear in its body.
  asking.on('error', () => undefined).end();
  countInterim(asking, socket, budget);
  const answered = Promise.withResolvers<IncomingMessage>();
  asking.once('response', answered.resolve).once('error', answered.reject);
  // An upgrade without a request for it ends the connection and is no error.
  asking.once('close', () => answered.reject(switched()));
  return (await answered.promise).on('error', () => undefined);
}

/** Interim answers (1xx) come before any body, as many as a server likes. */
function countInterim(asking: ClientRequest, socket: Socket, budget: Budget): void {
  let isWaiting = false;
  asking.on('information', () => {
    budget.spend({ parts: 1 });
    if (isWaiting) return;
    isWaiting = true;
    socket.pause();
    budget.ready().then(
      () => {
        isWaiting = false;
        socket.resume();
      },
      (error: unknown) => asking.destroy(error instanceof Error ? error : undefined),
    );
  });
}

async function secured(raw: Socket, { host }: StreamUrl, ca: string | undefined): Promise<Socket> {
  const servername = isIP(host) === 0 ? host.replace(/\.$/, '') : '';
  const { connect: connectTls } = await import('node:tls');
  const socket = connectTls({
    socket: raw,
    host,
    servername,
    ALPNProtocols: ['http/1.1'],
    ...(ca === undefined ? {} : { ca }),
  });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

function digestFor(
  url: StreamUrl,
  credentials: Credentials | undefined,
  { headersDistinct }: IncomingMessage,
): string | undefined {
  const challenges = headersDistinct['www-authenticate'] ?? [];
  if (!credentials || !challenges.some((challenge) => /^digest\s/i.test(challenge))) return undefined;
  return answerChallenge(challenges, credentials, { method: 'GET', uri: url.pathAndQuery });
}

function switched(): Error {
  return Object.assign(new Error('the server switched protocols'), { code: SWITCHED_PROTOCOLS });
}
