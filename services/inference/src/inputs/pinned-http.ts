import { addAbortListener } from 'node:events';
import { type Socket, isIP } from 'node:net';
import { Agent, type Dispatcher, buildConnector, request } from 'undici';
import { answerChallenge } from '@vision/shared/net/digest-auth';
import { SourceError, type SourceReason } from './source-error.ts';
import type { StreamUrl } from './stream-url.ts';

export interface PinnedResponse {
  body: Dispatcher.ResponseData['body'];
  contentType: string;
  contentLength: number | undefined;
}

/**
 * GET over a connection to one given address. Name, port and certificate checks are those of the URL. Redirects are refused:
 * they would lead to an address nobody checked.
 *
 * @throws SourceError with a reason of the answer or of the connection
 */
export async function getPinned(
  url: StreamUrl,
  options: { address: string; openTimeoutMs: number; signal: AbortSignal; ca?: string | undefined },
): Promise<PinnedResponse> {
  const { address, openTimeoutMs, signal, ca } = options;
  // The types hide what comes back.
  const connect = buildConnector({ timeout: openTimeoutMs, ...(ca === undefined ? {} : { ca }) }) as unknown as (
    ...of: Parameters<buildConnector.connector>
  ) => Socket;
  const servername = isIP(url.host) === 0 ? url.host : '';
  const dispatcher = new Agent({
    connect: (target, callback) => {
      // A request that waits for its connection does not hear of the signal.
      const socket = connect({ ...target, hostname: address, servername }, callback);
      const listener = addAbortListener(signal, () => socket.destroy(new Error('given up')));
      socket.once('close', () => listener[Symbol.dispose]());
    },
    headersTimeout: openTimeoutMs,
    bodyTimeout: 0,
    pipelining: 0,
  });
  const get = (authorization?: string) =>
    request(`${url.scheme}://${url.authority}${url.path}`, {
      dispatcher,
      signal,
      headers: { accept: '*/*', 'user-agent': 'vision', ...(authorization === undefined ? {} : { authorization }) },
    });
  let response: Dispatcher.ResponseData;
  try {
    response = await get(basicOf(url));
    const retry = response.statusCode === 401 ? digestFor(url, response) : undefined;
    if (retry !== undefined) {
      response.body.on('error', () => undefined).destroy();
      response = await get(retry);
    }
  } catch (error) {
    await dispatcher.destroy();
    throw new SourceError(reasonOfConnection(error));
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

function basicOf({ credentials }: StreamUrl): string | undefined {
  return credentials && answerChallenge(['Basic'], credentials, { method: 'GET', uri: '' });
}

function digestFor(url: StreamUrl, { headers }: Dispatcher.ResponseData): string | undefined {
  const challenges = [headers['www-authenticate'] ?? []].flat();
  if (!url.credentials || !challenges.some((challenge) => /^digest\s/i.test(challenge))) return undefined;
  return answerChallenge(challenges, url.credentials, { method: 'GET', uri: url.path });
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
