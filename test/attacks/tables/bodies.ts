import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Attack, AttackGroup } from '../attack.ts';
import { invalid, said } from '../say.ts';

/** Nothing listens there; a body that should not be accepted and is, is charged nothing. */
const URL_OF_NOTHING = 'rtsp://127.0.0.1:1/';
const own = { scene_code: 'ship', stream_url: URL_OF_NOTHING };
const SYNTAX = invalid('json_invalid');

type Bytes = string | Uint8Array<ArrayBuffer>;

function json(name: string, expected: string, body: Bytes, headers: Record<string, string> = {}): Attack {
  return {
    name,
    expected,
    attempt: async (target) =>
      said(
        await (
          await target.caller()
        ).send('POST', '/v1/vision/tasks', {
          body,
          headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID(), ...headers },
        }),
      ),
  };
}

const withUrl = (text: string) => `{"scene_code":"ship","stream_url":${text}}`;
const withScene = (text: string) => `{"scene_code":${text},"stream_url":"${URL_OF_NOTHING}"}`;
const typed = (name: string, expected: string, type: string) =>
  json(name, expected, JSON.stringify(own), { 'content-type': type });
const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array(parts.flatMap((part) => (typeof part === 'string' ? [...Buffer.from(part)] : part)));

export const bodies: AttackGroup = {
  title: 'Bodies in JSON',
  wanted: 'a fault of the service, a value that was not checked, or another meaning in the next service',
  withinMs: 10_000,
  atOnce: 8,
  attacks: [
    json('nothing', SYNTAX, ''),
    json('null', invalid('body_invalid'), 'null'),
    json('a text', invalid('body_invalid'), '"x"'),
    json('an array', invalid('body_invalid'), '[1]'),
    json('an empty object', invalid('stream_url_invalid'), '{}'),
    json('a comma too many', SYNTAX, '{"scene_code":"ship",}'),
    json('a comment', SYNTAX, '{/* */"scene_code":"ship"}'),
    json('NaN', SYNTAX, withUrl('NaN')),
    json('single quotes', SYNTAX, "{'scene_code':'ship'}"),
    json('two documents', SYNTAX, `${JSON.stringify(own)}${JSON.stringify(own)}`),
    json('a byte order mark', SYNTAX, bytes([0xef, 0xbb, 0xbf], JSON.stringify(own))),
    json('UTF-16', SYNTAX, new Uint8Array(Buffer.from(JSON.stringify(own), 'utf16le'))),
    json('bytes that are no UTF-8', SYNTAX, bytes('{"scene_code":"', [0xc3, 0x28], '"}')),
    json(
      '50,000 arrays within each other',
      invalid('stream_url_invalid'),
      withUrl('['.repeat(25_000) + ']'.repeat(25_000)),
    ),
    json(
      '50,000 objects within each other',
      invalid('stream_url_invalid'),
      withUrl('{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000)),
    ),
    json('a body of 65 KiB', invalid('body_too_large'), JSON.stringify({ ...own, more: 'x'.repeat(65 * 1024) })),
    json('a body of 4 MiB', invalid('body_too_large'), JSON.stringify({ ...own, more: 'x'.repeat(4 * 1024 * 1024) })),
    json('a prototype', invalid('unknown_field'), `{"__proto__":{"isAdmin":true},${JSON.stringify(own).slice(1)}`),
    json('a constructor', invalid('unknown_field'), `{"constructor":{"prototype":{}},${JSON.stringify(own).slice(1)}`),
    json('another subject', invalid('unknown_field'), JSON.stringify({ ...own, subject: 'other' })),
    json('a threshold of its own', invalid('unknown_field'), JSON.stringify({ ...own, min_score: 0 })),
    json(
      'the same field twice',
      invalid('stream_url_invalid'),
      `{"scene_code":"ship","stream_url":"${URL_OF_NOTHING}","stream_url":"file:///etc/passwd"}`,
    ),
    json('a number for the address', invalid('stream_url_invalid'), withUrl('1e400')),
    json('an object for the address', invalid('stream_url_invalid'), withUrl('{"toString":"x"}')),
    json('a NUL in the scene', '400 OP-TASK-SCENE-UNAVAILABLE scene_unavailable', withScene('"ship\\u0000"')),
    json('half a character in the scene', '400 OP-TASK-SCENE-UNAVAILABLE scene_unavailable', withScene('"\\ud800"')),
    json('a scene called like a method', '400 OP-TASK-SCENE-UNAVAILABLE scene_unavailable', withScene('"toString"')),
    json('a scene of 60 KiB', invalid('scene_code_invalid'), withScene(`"${'s'.repeat(60_000)}"`)),
    typed('a text for JSON', invalid('content_type_invalid'), 'text/plain'),
    typed('a form for JSON', invalid('content_type_invalid'), 'application/x-www-form-urlencoded'),
    typed('another kind of JSON', invalid('content_type_invalid'), 'application/problem+json'),
    typed('JSON said to be UTF-16', invalid('content_type_invalid'), 'application/json; charset=utf-16'),
    typed('JSON said to be UTF-7', invalid('content_type_invalid'), 'application/json; charset=utf-7'),
    json(
      'a compressed bomb',
      invalid('content_encoding_unsupported'),
      new Uint8Array(gzipSync(Buffer.alloc(20_000_000, 32))),
      { 'content-encoding': 'gzip' },
    ),
    json('a compressed bomb that says nothing', SYNTAX, new Uint8Array(gzipSync(Buffer.alloc(20_000_000, 32)))),
  ],
};
