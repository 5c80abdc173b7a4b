import { addAbortListener } from 'node:events';
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { Dispatcher } from 'undici';
import { answerChallenge } from '@vision/shared/net/digest-auth';
import type { Credentials } from '@vision/shared/net/digest-auth';
import type { StreamUrl } from '@vision/shared/net/stream-url';
import { SourceError } from '../domain/source-error.ts';
import type { SourceReason } from '../domain/source-error.ts';
import { withinTime } from './within-time.ts';

export interface PinnedResponse {
  body: Dispatcher.ResponseData['body'];
  contentType: string;
  contentLength: number | undefined;
}

export interface PinnedOptions {
  /** The IP address to connect to. */
  address: string;
  credentials: Credentials | undefined;
  openTimeoutMs: number;
  signal: AbortSignal;
  /** Certificates to trust instead of the system's. */
  ca?: string | undefined;
}

/**
 * GET over a connection to one given address. Name, port and certificate checks are those of the URL. Redirects are
 * refused: they would lead to an address nobody checked.
 *
 * @throws SourceError with a reason of the answer or of the connection
 */
export async function getPinned(
  url: StreamUrl,
  { address, credentials, openTimeoutMs, signal, ca }: PinnedOptions,
): Promise<PinnedResponse> {
  // The types do not show that the connector returns the socket.
  const connect = buildConnector({ timeout: openTimeoutMs, ...(ca === undefined ? {} : { ca }) }) as unknown as (
    ...of: Parameters<buildConnector.connector>
  ) => Socket;
  const servername = isIP(url.host) === 0 ? url.host.replace(/\.$/, '') : '';
  const dispatcher = new Agent({
    connect: (target, callback) => {
      // A request that waits for its connection does not notice the signal.
      const socket = connect({ ...target, hostname: address, servername }, callback);
      const listener = addAbortListener(signal, () => socket.destroy(new Error('given up')));
      socket.once('close', () => listener[Symbol.dispose]());
    },
    headersTimeout: openTimeoutMs,
    bodyTimeout: 0,
    pipelining: 0,
  });
  const get = (authorization?: string) => {
    const answer = dispatcher.request({
      origin: `${url.scheme}://${url.authority}`,
      // As it was sent, dots included: the answer to a Digest challenge covers it.
      path: url.pathAndQuery,
      method: 'GET',
      signal,
      headers: { accept: '*/*', 'user-agent': 'vision', ...(authorization === undefined ? {} : { authorization }) },
    });
    // Interim answers (1xx) begin the time for headers anew, so the whole has a time of its own: connection and answer.
    return withinTime(answer, 2 * openTimeoutMs, () => void dispatcher.destroy());
  };
  let response: Dispatcher.ResponseData;
  try {
    response = await get(credentials && answerChallenge(['Basic'], credentials, { method: 'GET', uri: '' }));
    const retry = response.statusCode === 401 ? digestFor(url, credentials, response) : undefined;
    if (retry !== undefined) {
      response.body.on('error', () => undefined).destroy();
      response = await get(retry);
    }
  } catch (error) {
    await dispatcher.destroy();
    throw error instanceof SourceError ? error : new SourceError(reasonOfConnection(error));
  }
  response.body.once('close', () => void dispatcher.destroy());
  const reason = reasonOfStatus(response.statusCode);
  if (reason !== undefined) {
    response.body.on('error', () => undefined).destroy();
    throw new SourceError(reason);
  }
  const length = response.headers['content-length'];
  return {
    body: response.body,
    contentType: String(response.headers['content-type'] ?? ''),
    contentLength: typeof length === 'string' ? Number(length) : undefined,
  };
}

function digestFor(
  url: StreamUrl,
  credentials: Credentials | undefined,
  { headers }: Dispatcher.ResponseData,
): string | undefined {
  const challenges = [headers['www-authenticate'] ?? []].flat();
  if (!credentials || !challenges.some((challenge) => /^digest\s/i.test(challenge))) return undefined;
  return answerChallenge(challenges, credentials, { method: 'GET', uri: url.pathAndQuery });
}

export function reasonOfStatus(status: number): SourceReason | undefined {
  if (status === 401 || status === 403) return 'auth_failed';
  if (status === 404 || status === 410) return 'not_found';
  if (status >= 300 && status < 400) return 'redirect_refused';
  return status >= 400 ? 'connection_failed' : undefined;
}

function reasonOfConnection(error: unknown): SourceReason {
  const { code = '' } = error as { code?: string };
  if (/CERT|SELF_SIGNED|TLS|UNABLE_TO_VERIFY|ERR_SSL/.test(code)) return 'tls_invalid';
  return /TIMEOUT/.test(code) ? 'timeout' : 'connection_failed';
}
