import type { Attributes } from '@opentelemetry/api';
import { ServerResponse } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Outcome } from '@vision/contracts/outcome';

const HIDDEN = '***';

/** Some callers put their key into the query. It is never read there, is passed on, and must not end up in a trace. */
export function incomingAttributes(
  { url = '' }: IncomingMessage,
  maskPath: (path: string) => string = (path) => path,
): Attributes {
  const [path = '', query] = url.split('?');
  const attributes: Attributes = { 'url.path': maskPath(path) };
  if (query !== undefined) attributes['url.query'] = HIDDEN;
  return attributes;
}

/** As proxies write down a request whose client left before it was answered; no such status is ever sent. */
const UNANSWERED = 499;

/**
 * What the span of a request has when the connection was closed before the head of an answer: without this, the status
 * that an answer has until the handler sets one.
 */
export function unansweredAttributes(res: ClientRequest | IncomingMessage | ServerResponse): Attributes {
  if (!(res instanceof ServerResponse) || res.headersSent) return {};
  const { locals } = res as ServerResponse & { locals?: { outcome?: Outcome } };
  const reason = locals?.outcome?.reason ?? 'client_left';
  return { 'http.response.status_code': UNANSWERED, 'app.error.reason': reason };
}
