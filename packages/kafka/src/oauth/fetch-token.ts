import { Agent } from 'undici';
import { CallError, call } from '@vision/shared/http/call';
import type { CallReply } from '@vision/shared/http/call';
import { BodyTooLargeError } from '@vision/shared/http/read-body';
import { tlsFromFiles } from '@vision/shared/pem-file';
import { away, codesOf, rootMessage, tlsFault, wrong } from '@vision/shared/start/fault';
import type { Fault } from '@vision/shared/start/fault';
import { LoginError } from './login-error.ts';
import { UnusableTokenError, readToken } from './read-token.ts';
import type { BearerToken } from './read-token.ts';

/** A client of a token server that gives tokens for the brokers. */
export interface OauthClient {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  scope?: string | undefined;
  /** PEM file of the authorities to trust instead of those of Node.js. */
  caFile?: string | undefined;
}

/** Limit for one request. A connection to a broker waits for it, and gives up after ten seconds. */
export const TOKEN_MS = 5_000;
/** Tokens have a few kilobytes at most. */
const MAX_REPLY_BYTES = 65_536;

/**
 * Asks the token server once, by the grant of client credentials (RFC 6749, 4.4).
 * @throws LoginError with the sentence for the operator.
 */
export async function fetchToken(client: OauthClient, limitMs: number): Promise<BearerToken> {
  // Made for each request, so that a renewed file of authorities needs no restart.
  const dispatcher = new Agent({ connect: tlsFromFiles({ ca: client.caFile }) });
  try {
    return readToken(await ask(client, dispatcher, limitMs));
  } catch (error) {
    if (error instanceof UnusableTokenError) throw new LoginError(wrong(`${named(client)} ${error.message}`));
    throw error instanceof CallError ? new LoginError(faultOf(error, client, limitMs)) : error;
  } finally {
    await dispatcher.destroy();
  }
}

const named = ({ tokenUrl }: OauthClient) => `KAFKA_OAUTH_TOKEN_URL=${tokenUrl}`;

async function ask(client: OauthClient, dispatcher: Agent, timeoutMs: number): Promise<unknown> {
  const { clientId, clientSecret, scope, tokenUrl: url } = client;
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== undefined && { scope }) });
  const headers = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    authorization: `Basic ${Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString('base64')}`,
  };
  const exchange = { upstream: 'oauth', operation: 'fetch_token', method: 'POST', url } as const;
  const limits = { timeoutMs, maxReplyBytes: MAX_REPLY_BYTES };
  const reply = await call({ ...exchange, ...limits, headers, bytes: Buffer.from(form.toString()), dispatcher });
  if (reply.status === 200) return reply.body;
  throw new LoginError(refusal(reply, client));
}

/** RFC 6749, 2.3.1: both parts are encoded as in a form, so a colon in them is none between them. */
const formEncoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);

function refusal({ status, body }: CallReply, client: OauthClient): Fault {
  if (status >= 500 || status === 429) return away(`${named(client)} answers with status ${status}`);
  if (status >= 300 && status < 400)
    return wrong(`${named(client)} redirects elsewhere (status ${status}), and redirects are not followed`);
  const { error, error_description: more } = (body ?? {}) as Record<string, unknown>;
  const reason = [error, more].filter((part) => typeof part === 'string').join(': ');
  const shown = reason.replaceAll(client.clientSecret, '***').replaceAll(/[^\x20-\x7e]/g, ' ');
  return wrong(
    `${named(client)} gives no token to KAFKA_OAUTH_CLIENT_ID=${client.clientId}: status ${status}` +
      (shown === '' ? '' : `, ${shown.slice(0, 200)}`),
  );
}

const settings = {
  store: 'the token server',
  address: 'KAFKA_OAUTH_TOKEN_URL',
  tls: 'KAFKA_OAUTH_TOKEN_URL',
  ca: 'KAFKA_OAUTH_CA_FILE',
};

function faultOf(error: CallError, client: OauthClient, limitMs: number): Fault {
  const tls = tlsFault(error, settings);
  if (tls) return tls;
  if (error.cause instanceof BodyTooLargeError) return wrong(`${named(client)} answers with ${error.cause.message}`);
  if (error.reason === 'timeout' || error.errorType.endsWith('_timeout'))
    return away(`${named(client)} does not answer within ${limitMs} ms`);
  return away(`${named(client)} does not answer: ${codesOf(error)[0] ?? rootMessage(error)}`);
}
