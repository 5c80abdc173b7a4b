import type { Attack, AttackGroup } from '../attack.ts';
import { rawRequest, sendRaw } from '../raw-http.ts';
import { invalid, NOT_FOUND } from '../say.ts';
import type { Caller } from '../../support/system.ts';

const LIST = 'GET /v1/vision/tasks HTTP/1.1';
const CREATE = 'POST /v1/vision/tasks HTTP/1.1';
const SMUGGLED = 'GET /api/op/v1/scenes HTTP/1.1\r\nHost: x\r\n\r\n';
const MALFORMED = invalid('request_malformed');

const bearer = ({ key }: Caller) => ['Host: x', `Authorization: Bearer ${key}`];
const last = 'Connection: close';

/** Sends one request with a valid key; the answer, and whatever else comes on the connection. */
function row(name: string, expected: string, make: (own: string[]) => string): Attack {
  return { name, expected, attempt: async (target) => sendRaw(make(bearer(await target.caller()))) };
}

const framing = (name: string, expected: string, headers: string[], body: string): Attack =>
  row(name, expected, (own) => rawRequest(CREATE, [...own, 'Content-Type: application/json', ...headers, last], body));

export const smuggling: AttackGroup = {
  title: 'Requests that two readers take for different ones',
  wanted: 'a second request behind a proxy, in the name of another caller',
  withinMs: 10_000,
  atOnce: 8,
  attacks: [
    framing(
      'a length beside chunks',
      MALFORMED,
      ['Content-Length: 5', 'Transfer-Encoding: chunked'],
      `0\r\n\r\n${SMUGGLED}`,
    ),
    framing(
      'chunks beside a length',
      MALFORMED,
      ['Transfer-Encoding: chunked', 'Content-Length: 5'],
      `0\r\n\r\n${SMUGGLED}`,
    ),
    framing('two lengths that differ', MALFORMED, ['Content-Length: 2', 'Content-Length: 60'], `{}${SMUGGLED}`),
    framing('two lengths that are equal', MALFORMED, ['Content-Length: 2', 'Content-Length: 2'], `{}${SMUGGLED}`),
    framing('a list of lengths', MALFORMED, ['Content-Length: 2, 2'], `{}${SMUGGLED}`),
    framing('a length with a sign', MALFORMED, ['Content-Length: +2'], `{}${SMUGGLED}`),
    framing('a negative length', MALFORMED, ['Content-Length: -2'], `{}${SMUGGLED}`),
    framing('a hexadecimal length', MALFORMED, ['Content-Length: 0x2'], `{}${SMUGGLED}`),
    framing('a length of 2⁶⁴', MALFORMED, ['Content-Length: 18446744073709551618'], `{}${SMUGGLED}`),
    framing('a space before the colon', MALFORMED, ['Content-Length : 2'], `{}${SMUGGLED}`),
    framing(
      'a length behind an underscore',
      invalid('idempotency_key_missing'),
      ['Content_Length: 60', 'Content-Length: 2'],
      '{}',
    ),
    framing('a coding besides chunks', MALFORMED, ['Transfer-Encoding: gzip, chunked'], `0\r\n\r\n${SMUGGLED}`),
    framing(
      'chunks named twice',
      MALFORMED,
      ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
      `0\r\n\r\n${SMUGGLED}`,
    ),
    framing('an unknown coding', MALFORMED, ['Transfer-Encoding: xchunked'], `0\r\n\r\n${SMUGGLED}`),
    framing('chunks in quotes', MALFORMED, ['Transfer-Encoding: "chunked"'], `0\r\n\r\n${SMUGGLED}`),
    framing('chunks behind a tab', MALFORMED, ['Transfer-Encoding:\tchunked, identity'], `0\r\n\r\n${SMUGGLED}`),
    framing(
      'a chunk of 2⁶⁴ bytes',
      MALFORMED,
      ['Transfer-Encoding: chunked'],
      `10000000000000002\r\n{}\r\n0\r\n\r\n${SMUGGLED}`,
    ),
    framing(
      'a chunk that is longer than it says',
      MALFORMED,
      ['Transfer-Encoding: chunked'],
      `1\r\n{}\r\n0\r\n\r\n${SMUGGLED}`,
    ),
    framing('a chunk that ends with LF', MALFORMED, ['Transfer-Encoding: chunked'], `2\n{}\n0\n\n${SMUGGLED}`),
    framing(
      'an extension of 64 KiB behind a chunk',
      MALFORMED,
      ['Transfer-Encoding: chunked'],
      `2;a=${'b'.repeat(65_536)}\r\n{}\r\n0\r\n\r\n`,
    ),
    framing(
      'trailers that name a length',
      MALFORMED,
      ['Transfer-Encoding: chunked', 'Trailer: Content-Length'],
      '2\r\n{}\r\n0\r\nContent-Length: 60\r\n\r\n',
    ),
    row(
      'a body behind GET',
      '200, then 200',
      (own) =>
        `${rawRequest(LIST, [...own, `Content-Length: ${SMUGGLED.length}`], SMUGGLED)}${rawRequest(LIST, [...own, last])}`,
    ),
    row('a body that is longer than its length', MALFORMED, (own) =>
      rawRequest(LIST, [...own, 'Content-Length: 2'], `{}GET / HTTP/9.9\r\n\r\n`),
    ),
    row('lines that end with LF', MALFORMED, (own) => rawRequest(LIST, [...own, last]).replaceAll('\r\n', '\n')),
    row(
      'lines that end with CR',
      MALFORMED,
      (own) => `${rawRequest(LIST, [...own, last]).replaceAll('\r\n', '\r')}\r\n\r\n`,
    ),
    row('a bare CR in a value', MALFORMED, (own) => rawRequest(LIST, [...own, 'X-A: 1\rX-B: 2', last])),
    row('a bare LF in a value', MALFORMED, (own) => rawRequest(LIST, [...own, 'X-A: 1\n X-B: 2', last])),
    row('a NUL in a value', MALFORMED, (own) => rawRequest(LIST, [...own, 'X-A: 1\0', last])),
    row('a folded line', MALFORMED, (own) => rawRequest(LIST, [...own, 'X-A: 1\r\n 2', last])),
    row('a line without a colon', MALFORMED, (own) => rawRequest(LIST, [...own, 'X-A', last])),
    row('a line without a name', MALFORMED, (own) => rawRequest(LIST, [...own, ': 1', last])),
    row('a space in a name', MALFORMED, (own) => rawRequest(LIST, [...own, 'X A: 1', last])),
    row('two hosts', invalid('host_repeated'), (own) => rawRequest(LIST, [...own, 'Host: inner', last])),
    row('no host', invalid('host_missing'), ([, authorization = '']) => rawRequest(LIST, [authorization, last])),
    row('an address of another host in the start line', NOT_FOUND, (own) =>
      rawRequest('GET http://127.0.0.1:1/admin/v1/keys HTTP/1.1', [...own, last]),
    ),
    row('HTTP/2.0 in the start line', invalid('http_version_unsupported'), (own) =>
      rawRequest(LIST.replace('1.1', '2.0'), [...own, last]),
    ),
    row('HTTP/1.2 in the start line', MALFORMED, (own) => rawRequest(LIST.replace('1.1', '1.2'), [...own, last])),
    row('HTTP/0.9', invalid('http_version_unsupported'), () => 'GET /v1/vision/tasks\r\n\r\n'),
    row('the beginning of HTTP/2', MALFORMED, () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    row('a tunnel', 'closed', (own) => rawRequest('CONNECT 127.0.0.1:5432 HTTP/1.1', [...own, last])),
    row('another protocol from here on', '200', (own) =>
      rawRequest(LIST, [...own, 'Connection: upgrade, close', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']),
    ),
    row('an unknown expectation', invalid('expectation_unknown'), (own) =>
      rawRequest(LIST, [...own, 'Expect: 200-ok', last]),
    ),
    row('a head of 17 KiB', MALFORMED, (own) => rawRequest(LIST, [...own, `X-A: ${'a'.repeat(17_000)}`, last])),
    row('3,000 lines of head', MALFORMED, (own) =>
      rawRequest(LIST, [...own, ...Array.from({ length: 3_000 }, () => 'A: 1'), last]),
    ),
    row('a path of 20 KiB', MALFORMED, (own) => rawRequest(`GET /${'a'.repeat(20_000)} HTTP/1.1`, [...own, last])),
    row('TLS', MALFORMED, () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'),
    row('a greeting of mail', MALFORMED, () => 'EHLO x\r\nMAIL FROM:<a@b>\r\n\r\n'),
  ],
};

const path = (name: string, expected: string, line: string, ...headers: string[]): Attack =>
  row(name, expected, (own) => rawRequest(`${line} HTTP/1.1`, [...own, ...headers, last]));

export const paths: AttackGroup = {
  title: 'Paths and methods',
  wanted: 'operations of operators, of other services, or past the check of a key',
  withinMs: 10_000,
  atOnce: 8,
  attacks: [
    path('the admin API on the public port', NOT_FOUND, 'GET /admin/v1/keys'),
    path('dots to the admin API', NOT_FOUND, 'GET /v1/vision/tasks/../../../admin/v1/keys'),
    path('encoded dots to the admin API', NOT_FOUND, 'GET /v1/vision/tasks/%2e%2e/%2e%2e/%2e%2e/admin/v1/keys'),
    path('encoded slashes', NOT_FOUND, 'GET /v1%2fvision%2ftasks'),
    path('backslashes', NOT_FOUND, 'GET /v1\\vision\\tasks'),
    path('two slashes', NOT_FOUND, 'GET //v1/vision/tasks'),
    path('upper case', NOT_FOUND, 'GET /V1/Vision/Tasks'),
    path('a parameter in the path', NOT_FOUND, 'GET /v1/vision/tasks;a=b'),
    path('a NUL in the path', NOT_FOUND, 'GET /v1/vision/tasks/%00'),
    path('a broken encoding', invalid('path_malformed'), 'GET /v1/vision/tasks/%zz'),
    path('an overlong encoding', invalid('path_malformed'), 'GET /v1/vision/tasks/%c0%ae%c0%ae'),
    path('operations between services', NOT_FOUND, 'GET /internal/tasks/01890000-0000-7000-8000-000000000000'),
    path('jobs of the backend', NOT_FOUND, 'GET /v1/jobs?ids='),
    path('metrics on the public port', NOT_FOUND, 'GET /metrics'),
    path('a file beside the documentation', NOT_FOUND, 'GET /docs/..%2f..%2fpackage.json'),
    path('a method that is not there', '405 method_not_allowed', 'DELETE /v1/vision/tasks'),
    path('TRACE', '405 method_not_allowed', 'TRACE /v1/vision/tasks'),
    path('another method in a header', '200', 'GET /v1/vision/tasks', 'X-HTTP-Method-Override: DELETE'),
    path(
      'another path in a header',
      '200',
      'GET /v1/vision/tasks',
      'X-Original-URL: /admin/v1/keys',
      'X-Rewrite-URL: /admin/v1/keys',
    ),
    path('a condition that everything meets', '200', 'GET /api/op/v1/scenes', 'If-None-Match: *'),
    path('a range of an answer', '200', 'GET /v1/vision/tasks', 'Range: bytes=0-0,0-0,0-0,0-0'),
    path('a name of a service', '200', 'GET /v1/vision/tasks', 'X-Subject: other', 'X-Service-Token: other'),
  ],
};
