import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { until } from '@vision/shared/testing/until';
import { BOUNDARY, file, files, multipart, picture, scene } from './support/form.ts';
import type { Part } from './support/form.ts';
import { answerOf, openPost, pump, spooled } from './support/raw-client.ts';
import { clientOf, startImages } from './support/start-images.ts';
import type { TestImages } from './support/start-images.ts';

const MIB = 1024 * 1024;
const good = () => files(picture());

let images: TestImages;
let token: string;
beforeAll(async () => {
  images = await startImages();
  token = await clientOf(images.url).tokenOf();
});
afterAll(() => images.stop());

/** A refused upload leaves no data behind. */
afterEach(async () => {
  await until(async () => (await spooled(images.spoolDir)).length === 0);
  expect(await images.s3.objects()).toEqual([]);
  expect(await images.database.db('idempotency_keys')).toEqual([]);
  expect(images.quota.reservations.size).toBe(0);
});

test.each<[string, Part[], string, string]>([
  ['no image', [scene('fire_smoke')], 'image_count_out_of_range', 'files'],
  ['an empty form', [], 'image_count_out_of_range', 'files'],
  ['eleven images', files(...Array.from({ length: 11 }, () => picture())), 'image_count_out_of_range', 'files'],
  ['8 MiB and one byte', files(picture('a', { bytes: 8 * MIB + 1 })), 'image_too_large', 'files'],
  ['another file field', [...good(), file(picture(), { name: 'file' })], 'unknown_field', 'file'],
  ['files[]', [file(picture(), { name: 'files[]' })], 'unknown_field', 'files[]'],
  ['another value field', [...good(), { name: 'min_score', content: '0.5' }], 'unknown_field', 'min_score'],
  ['a picture sent as a value', [...good(), { name: 'files', content: 'x' }], 'unknown_field', 'files'],
  ['a scene sent as a file', [file(picture(), { name: 'scene_code' })], 'unknown_field', 'scene_code'],
  ['scene_code twice', [scene('ship'), ...good(), scene('ship')], 'field_repeated', 'scene_code'],
  ['scene_code[0]', [...good(), { name: 'scene_code[0]', content: 'ship' }], 'unknown_field', 'scene_code[0]'],
  ['a huge index', [...good(), { name: 'a[999999999]', content: 'x' }], 'unknown_field', 'a[999999999]'],
  [
    'a deep name',
    [...good(), { name: `a${'[b]'.repeat(2000)}`, content: 'x' }],
    'unknown_field',
    `a${'[b]'.repeat(33)}`,
  ],
  ['__proto__', [...good(), { name: '__proto__', content: 'x' }], 'unknown_field', '__proto__'],
  ['an unknown scene', [...good(), scene('dragons')], 'scene_unavailable', 'scene_code'],
  ['a disabled scene', [...good(), scene('helmet')], 'scene_unavailable', 'scene_code'],
  ['an empty scene', [...good(), scene('')], 'scene_unavailable', 'scene_code'],
  ['a scene with NUL', [...good(), scene('ship\0')], 'scene_unavailable', 'scene_code'],
  ['a long scene', [...good(), scene('x'.repeat(2000))], 'field_too_long', 'scene_code'],
  [
    'text renamed .jpg',
    [file('hello, I am text', { filename: 'a.jpg', type: 'image/jpeg' })],
    'image_type_unsupported',
    'files',
  ],
  ['SVG renamed .png', [file('<svg xmlns="http://www.w3.org/2000/svg"/>')], 'image_type_unsupported', 'files'],
  ['a GIF', [file('GIF89a...........', { type: 'image/gif' })], 'image_type_unsupported', 'files'],
  ['a picture declared as text', [file(picture(), { type: 'text/plain' })], 'image_type_unsupported', 'files'],
  ['an empty file', [file('')], 'image_type_unsupported', 'files'],
  ['a file shorter than a signature', [file(Buffer.from([0x89, 0x50]))], 'image_type_unsupported', 'files'],
  [
    'one bad file among good ones',
    [...good(), file('no picture at all'), ...good()],
    'image_type_unsupported',
    'files',
  ],
  [
    'a file without a name',
    [...good(), { name: 'files', content: 'x', type: 'application/octet-stream' }],
    'file_name_missing',
    'files',
  ],
  ['an empty file input of a browser', [...good(), file('', { filename: '' })], 'unknown_field', 'files'],
])('%s is refused entirely', async (_what, parts, reason, field) => {
  const { status, body } = await images.detect(parts);
  expect({ status, reason: body.details['reason'] }).toEqual({ status: 400, reason });
  expect(body.details['field']).toBe(field);
  expect(body.code).toBe(reason === 'scene_unavailable' ? 'OP-TASK-SCENE-UNAVAILABLE' : 'OP-TASK-REQUEST-INVALID');
});

test.each<[string, Record<string, string>, string]>([
  ['JSON', { 'content-type': 'application/json' }, 'content_type_invalid'],
  ['another multipart', { 'content-type': 'multipart/mixed; boundary=x' }, 'content_type_invalid'],
  ['no boundary', { 'content-type': 'multipart/form-data' }, 'content_type_invalid'],
  ['an empty boundary', { 'content-type': 'multipart/form-data; boundary=' }, 'content_type_invalid'],
  ['another boundary', { 'content-type': 'multipart/form-data; boundary=other' }, 'multipart_malformed'],
  ['a compressed body', { 'content-encoding': 'gzip' }, 'content_encoding_unsupported'],
  ['a malformed key', { 'idempotency-key': '{0}' }, 'idempotency_key_invalid'],
  ['an empty key', { 'idempotency-key': '' }, 'idempotency_key_invalid'],
])('%s in the headers is refused', async (_what, headers, reason) => {
  const { status, body } = await images.detect(good(), { headers });
  expect({ status, reason: body.details['reason'] }).toEqual({ status: 400, reason });
});

test('refuses no key and two keys', async () => {
  const none = openPost(images.url, { token, key: '' });
  none.removeHeader('idempotency-key');
  none.end(multipart(good()));
  expect(await answerOf(none)).toEqual({ status: 400, reason: 'idempotency_key_missing' });
  const two = openPost(images.url, { token, key: '', headers: { 'idempotency-key': [randomUUID(), randomUUID()] } });
  two.end(multipart(good()));
  expect(await answerOf(two)).toEqual({ status: 400, reason: 'idempotency_key_invalid' });
});

test.each<[string, Buffer]>([
  ['in the middle of a file', multipart(good(), { end: false }).subarray(0, 150)],
  ['before the last boundary', multipart(good(), { end: false })],
  ['in the headers of a part', Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-da`)],
  ['at once', Buffer.alloc(0)],
])('a form that ends %s is refused', async (_where, body) => {
  const req = openPost(images.url, { token, key: randomUUID() });
  req.end(body);
  expect(await answerOf(req)).toEqual({ status: 400, reason: 'multipart_malformed' });
});

test('a declared length above 81 MiB is refused before a byte is sent', async () => {
  const req = openPost(images.url, {
    token,
    key: randomUUID(),
    headers: { 'content-length': String(81 * MIB + 1) },
  });
  req.flushHeaders();
  expect(await answerOf(req)).toEqual({ status: 400, reason: 'body_too_large' });
  req.destroy();
});

test.each<[string, (filler: Buffer) => Iterable<Buffer>]>([
  ['in front of the form', (filler) => [...Array<Buffer>(82).fill(filler), multipart(good())]],
  ['behind the form', (filler) => [multipart(good()), ...Array<Buffer>(82).fill(filler)]],
])('a body without length that passes 81 MiB %s is refused', async (_where, body) => {
  const req = openPost(images.url, { token, key: randomUUID() });
  const answer = answerOf(req);
  await pump(req, body(Buffer.alloc(MIB, '-')));
  req.end();
  expect(await answer).toEqual({ status: 400, reason: 'body_too_large' });
});

test('a refusal is answered while the body is still being sent', async () => {
  const req = openPost(images.url, { token, key: randomUUID() });
  req.write(multipart([{ name: 'nonsense', content: 'x' }], { end: false }));
  req.write(multipart(good(), { end: false }));
  expect(await answerOf(req)).toEqual({ status: 400, reason: 'unknown_field' });
  req.destroy();
});

test.each([0.25, 0.5, 0.99])('a client that disconnects after a share of %d leaves no data', async (share) => {
  const body = multipart(files(picture('a', { bytes: 3 * MIB }), picture('b', { bytes: 3 * MIB })));
  const req = openPost(images.url, { token, key: randomUUID(), headers: { 'content-length': String(body.length) } });
  req.write(body.subarray(0, Math.ceil(body.length * share)));
  await until(async () => (await spooled(images.spoolDir)).length > 0);
  req.destroy();
  await until(async () => (await spooled(images.spoolDir)).length === 0);
});

test('the order of the parts does not change a refusal', async () => {
  const bad = { name: 'other', content: 'x' };
  for (const parts of [
    [bad, ...good()],
    [...good(), bad],
  ]) {
    const { body } = await images.detect(parts);
    expect(body.details['reason']).toBe('unknown_field');
  }
});
