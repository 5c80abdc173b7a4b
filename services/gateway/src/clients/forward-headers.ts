import type { OutgoingHttpHeaders } from 'node:http';
import { refusedImagesHeader } from '@vision/contracts/images';
import { processorTimeHeader } from '@vision/contracts/inference';
import { outcomeHeader } from '@vision/contracts/outcome';
import { deadlineHeader } from '@vision/shared/upstream/deadline';

/** Valid for one connection only (RFC 9110, section 7.6.1), plus those that `Connection` names. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers that callers cannot pass to services: identity, trace, deadline, outcome, expectations of the next hop. */
const NOT_FORWARDED = new Set([
  'authorization',
  'host',
  'expect',
  'cookie',
  'traceparent',
  'tracestate',
  'baggage',
  deadlineHeader,
  outcomeHeader,
]);

/** Headers that the gateway sets on every response, or that are meant for it. */
const NOT_RETURNED = new Set([
  'x-request-id',
  'x-trace-id',
  'ratelimit',
  'ratelimit-policy',
  'server',
  'x-powered-by',
  processorTimeHeader,
  refusedImagesHeader,
  outcomeHeader,
]);

/**
 * The headers of a request for the next hop. Repeated headers stay repeated, so the service receives them unchanged.
 */
export function requestHeaders(rawHeaders: string[]): OutgoingHttpHeaders {
  return without(rawHeaders, NOT_FORWARDED);
}

/** The headers of an answer for the client. */
export function responseHeaders(rawHeaders: string[]): OutgoingHttpHeaders {
  return without(rawHeaders, NOT_RETURNED);
}

function without(rawHeaders: string[], dropped: Set<string>): OutgoingHttpHeaders {
  const named = new Set<string>();
  const kept = new Map<string, string[]>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    if (name === 'connection') value.split(',').forEach((token) => named.add(token.trim().toLowerCase()));
    if (!HOP_BY_HOP.has(name) && !dropped.has(name)) kept.set(name, [...(kept.get(name) ?? []), value]);
  }
  // A client must not be able to strip the framing or the key of its request by naming them.
  const protectedNames = new Set(['content-length', 'content-type', 'idempotency-key']);
  const headers: OutgoingHttpHeaders = {};
  for (const [name, values] of kept) {
    if (named.has(name) && !protectedNames.has(name)) continue;
    headers[name] = values.length === 1 ? values[0] : values;
  }
  return headers;
}
