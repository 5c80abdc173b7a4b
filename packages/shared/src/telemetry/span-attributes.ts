import type { Attributes } from '@opentelemetry/api';
import type { IncomingMessage } from 'node:http';

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
