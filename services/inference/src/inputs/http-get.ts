import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { answerChallenge } from '@vision/streams/digest-auth';
import type { Credentials } from '@vision/streams/digest-auth';
import type { StreamUrl } from '@vision/streams/stream-url';
import { SourceError } from '../domain/source-error.ts';
import type { SourceReason } from '../domain/source-error.ts';
import type { Budget } from './budget.ts';
import type { HttpOptions } from './live-input.ts';
import { reasonOfStatus } from './status-reason.ts';
import { withinBudget } from './within-budget.ts';
import { withinTime } from './within-time.ts';

// An import statement would also load what Node.js puts beside it, fetch and WebSocket: half of a reader's start.
const { request } = process.getBuiltinModule('node:http');

export interface HttpAnswer {
  /** Comes no faster than the budget allows. */
  body: Readable;
  contentType: string;
  contentLength: number | undefined;
}

export interface GetOptions extends Omit<HttpOptions, 'url'> {
  credentials: Credentials | undefined;
}

/**
 * GET over a connection of its own, which the service makes. Name and certificate checks are those of the URL.
 * Redirects are refused: a server may not choose where its readers go. HTTP/1.1 as Node.js speaks it; a second protocol
 * would be a second parser.
 *
 * @throws SourceError with a reason of the answer or of the connection
 */
export async function getOnce(url: StreamUrl, options: GetOptions): Promise<HttpAnswer> {
  const { credentials } = options;
  const basic = credentials && answerChallenge(['Basic'], credentials, { method: 'GET', uri: '' });
  let response = await ask(url, basic, options);
  const digest = response.statusCode === 401 ? digestFor(url, credentials, response) : undefined;
  if (digest !== undefined) {
    drop(response);
    response = await ask(url, digest, options);
  }
  const reason = reasonOfStatus(response.statusCode ?? 0);
  if (reason !== undefined) {
    drop(response);
    throw new SourceError(reason);
  }
  const length = response.headers['content-length'];
  return {
    body: withinBudget(response, options.budget),
    contentType: response.headers['content-type'] ?? '',
    contentLength: length === undefined ? undefined : Number(length),
  };
}

async function ask(url: StreamUrl, authorization: string | undefined, options: GetOptions): Promise<IncomingMessage> {
  const { connect, openTimeoutMs, signal } = options;
  const raw = await connect(url, signal);
  const giveUp = () => void raw.destroy();
  signal.addEventListener('abort', giveUp, { once: true });
  raw.once('close', () => signal.removeEventListener('abort', giveUp));
  try {
    // Interim answers (1xx) prove nothing, so the whole has a time: the handshake of TLS and the answer.
    return await withinTime(answerOver(raw, url, { ...options, authorization }), 2 * openTimeoutMs, giveUp);
  } catch (error) {
    giveUp();
    throw error instanceof SourceError ? error : new SourceError(reasonOfConnection(error));
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
  // Errors after the answer show up in its body.
  asking.on('error', () => undefined).end();
  countInterim(asking, socket, budget);
  const answered = Promise.withResolvers<IncomingMessage>();
  asking.once('response', answered.resolve).once('error', answered.reject);
  // An upgrade without a request for it ends the connection and is no error.
  asking.once('close', () => answered.reject(new SourceError('connection_failed')));
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

/** An answer that is not wanted ends with its connection. */
function drop(response: IncomingMessage): void {
  response.on('error', () => undefined).destroy();
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

function reasonOfConnection(error: unknown): SourceReason {
  const { code = '' } = error as { code?: string };
  return /CERT|SELF_SIGNED|TLS|UNABLE_TO_VERIFY|ERR_SSL/.test(code) ? 'tls_invalid' : 'connection_failed';
}
