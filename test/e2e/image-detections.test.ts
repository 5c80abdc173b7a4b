import { beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import sharp from 'sharp';
import {
  assertDocumented,
  Caller,
  example,
  exchange,
  form,
  jpeg,
  problemOf,
  refusal,
  scene,
  system,
} from '../support/system.ts';

const MiB = 1024 * 1024;
const invalid = (reason: string) => [400, 'OP-TASK-REQUEST-INVALID', reason];
interface Entry {
  seq: number;
  status: string;
  error_code?: string;
  objects?: { label: string; score: number; track_id?: string; bbox: { format: string; cx: number; cy: number } }[];
}
const resultsOf = (body: Record<string, unknown>) => body['results'] as Entry[];

let caller: Caller;
let street: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  caller = await Caller.create();
  street = new Uint8Array(await example('street.jpg'));
});

/** A valid JPEG of exactly this many bytes: decoders skip what follows the end marker of the picture. */
function padded(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  bytes.set(street);
  return bytes;
}

test('finds the same people in JPEG, PNG and WEBP, in upload order, with boxes in the contract form', async () => {
  const files = await Promise.all(
    ['jpg', 'png', 'webp'].map(async (type) => ({
      name: 'files',
      value: new Uint8Array(await example(`street.${type}`)),
      type: `image/${type === 'jpg' ? 'jpeg' : type}`,
      filename: `street.${type}`,
    })),
  );
  const key = randomUUID().toUpperCase();
  const answer = await caller.detect(form(...files, scene('person_vehicle')), key);
  expect([answer.status, answer.body['status'], answer.body['request_id']]).toEqual([201, 'succeeded', key]);
  expect(answer.body).not.toHaveProperty('replayed');
  const results = resultsOf(answer.body);
  expect(results.map(({ seq, status }) => [seq, status])).toEqual([
    [0, 'succeeded'],
    [1, 'succeeded'],
    [2, 'succeeded'],
  ]);
  for (const { objects = [] } of results) {
    const people = objects.filter(({ label, score }) => label === 'person' && score >= 0.7);
    expect(people.length).toBeGreaterThanOrEqual(4);
    expect(objects.map(({ score }) => score)).toEqual(objects.map(({ score }) => score).toSorted((a, b) => b - a));
    for (const object of objects) {
      expect(object).not.toHaveProperty('track_id');
      expect(object.bbox.format).toBe('cxcywh_normalized');
    }
  }
  expect(await caller.used('image')).toBeGreaterThanOrEqual(3);
});

test('a replay restores the original results and charges nothing', async () => {
  const key = randomUUID();
  const files = () => form(jpeg(street), scene('person_vehicle'));
  const first = await caller.detect(files(), key);
  const used = await caller.used('image');
  const again = await caller.detect(files(), key);
  expect([first.status, again.status, again.body['replayed']]).toEqual([201, 200, true]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect({ ...again.body, replayed: undefined }).toEqual({ ...first.body, replayed: undefined });
  expect(await caller.used('image')).toBe(used);
});

test('the same key with another scene, another picture or another order is refused', async () => {
  const key = randomUUID();
  const other = new Uint8Array(await example('street.webp'));
  const webp = { name: 'files', value: other, type: 'image/webp', filename: 'b.webp' };
  expect((await caller.detect(form(jpeg(street), webp, scene('person_vehicle')), key)).status).toBe(201);
  for (const body of [
    form(jpeg(street), webp, scene('ship')),
    form(jpeg(street), scene('person_vehicle')),
    form(webp, jpeg(street), scene('person_vehicle')),
  ]) {
    expect(refusal(await caller.detect(body, key))).toEqual(invalid('idempotency_key_reused'));
  }
});

test('the scene defaults to fire_smoke, so naming it is the same request', async () => {
  const key = randomUUID();
  expect((await caller.detect(form(jpeg(street)), key)).status).toBe(201);
  expect((await caller.detect(form(scene('fire_smoke'), jpeg(street)), key)).body['replayed']).toBe(true);
});

test.each<[string, Record<string, string>]>([
  ['no key', {}],
  ['a wrong key', { authorization: 'Bearer vk_aaaaaaaaaaaa_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb' }],
  ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
])('%s is 401 with OP-AUTH-REQUIRED', async (_name, headers) => {
  const reply = await exchange(`${system.baseUrl}/v1/vision/image-detections`, 'POST', { headers });
  expect([reply.status, reply.body['code'], reply.headers.get('www-authenticate')]).toEqual([
    401,
    'OP-AUTH-REQUIRED',
    'Bearer',
  ]);
});

test('a key in the query string is never read', async () => {
  for (const name of ['key', 'api_key', 'access_token', 'authorization']) {
    const reply = await exchange(`${system.baseUrl}/api/op/v1/scenes?${name}=${caller.key}`, 'GET');
    expect(reply.status).toBe(401);
  }
});

test.each([
  ['missing', undefined, 'idempotency_key_missing'],
  ['malformed', 'not-a-uuid', 'idempotency_key_invalid'],
  ['doubled', `${randomUUID()}, ${randomUUID()}`, 'idempotency_key_invalid'],
])('an Idempotency-Key that is %s is refused', async (_name, key, reason) => {
  const answer = await caller.send('POST', '/v1/vision/image-detections', {
    body: form(jpeg(street)),
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  });
  expect(refusal(answer)).toEqual(invalid(reason));
});

test('two Idempotency-Key headers are refused even when they are equal', async () => {
  const key = randomUUID();
  const url = `${system.baseUrl}/v1/vision/image-detections`;
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    const req = request(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${caller.key}`,
        'idempotency-key': [key, key],
        'content-type': 'multipart/form-data; boundary=x',
      },
    });
    req.on('response', resolve).on('error', reject).end('--x--\r\n');
  });
  const body = await text(reply);
  const headers = new Headers(Object.entries(reply.headers).map(([name, value]) => [name, String(value)]));
  assertDocumented(url, { method: 'POST', status: reply.statusCode ?? 0, headers, text: body });
  expect(JSON.parse(body)).toMatchObject({ status: 400, details: { reason: 'idempotency_key_invalid' } });
});

test.each([0, 11])('%d images are refused', async (count) => {
  const answer = await caller.detect(
    form(scene('person_vehicle'), ...Array.from({ length: count }, () => jpeg(street))),
  );
  expect(refusal(answer)).toEqual(invalid('image_count_out_of_range'));
});

test('an image of exactly 8 MiB is accepted, one byte more is refused', async () => {
  expect((await caller.detect(form(jpeg(padded(8 * MiB))))).status).toBe(201);
  const answer = await caller.detect(form(jpeg(padded(8 * MiB + 1))));
  expect(refusal(answer)).toEqual(invalid('image_too_large'));
  expect(problemOf(answer).details.field).toBe('files');
});

test('a body over 81 MiB is refused with and without Content-Length', async () => {
  const big = form(...Array.from({ length: 10 }, () => jpeg(padded(8 * MiB))), {
    name: 'scene_code',
    value: 'a'.repeat(2 * MiB),
  });
  const { body: stream, headers } = new Response(big);
  const type = headers.get('content-type') ?? '';
  expect(refusal(await caller.detect(big))).toEqual(invalid('body_too_large'));
  const chunked = await exchange(`${system.baseUrl}/v1/vision/image-detections`, 'POST', {
    headers: { authorization: `Bearer ${caller.key}`, 'idempotency-key': randomUUID(), 'content-type': type },
    body: stream,
    duplex: 'half',
  });
  expect(refusal(chunked)).toEqual(invalid('body_too_large'));
});

test.each<[string, FormData, string]>([
  ['another file field', form({ ...jpeg(new Uint8Array(8)), name: 'images' }), 'unknown_field'],
  ['another value field', form({ name: 'scene', value: 'ship' }), 'unknown_field'],
  ['scene_code twice', form(scene('ship'), scene('ship')), 'field_repeated'],
  ['a nested field name', form({ name: 'scene_code[a][b]', value: 'x' }), 'unknown_field'],
  ['a huge index', form({ name: 'scene_code[999999999]', value: 'x' }), 'unknown_field'],
])('%s is refused', async (_name, body, reason) => {
  body.append('files', new Blob([street], { type: 'image/jpeg' }), 'a.jpg');
  expect(refusal(await caller.detect(body))).toEqual(invalid(reason));
});

test.each(['nowhere', 'helmet', ''])('the scene "%s" is unavailable', async (code) => {
  const answer = await caller.detect(form(jpeg(street), scene(code)));
  expect(refusal(answer)).toEqual([400, 'OP-TASK-SCENE-UNAVAILABLE', 'scene_unavailable']);
});

test.each<[string, string]>([
  ['text renamed to .jpg', 'hello, I am text'],
  ['an SVG renamed to .png', '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>'],
  ['a GIF', 'GIF89a\u0001\u0000\u0001\u0000'],
])('%s is refused', async (_name, text) => {
  const file = {
    name: 'files',
    value: new Uint8Array(new TextEncoder().encode(text)),
    type: 'image/png',
    filename: 'a.png',
  };
  expect(refusal(await caller.detect(form(jpeg(street), file)))).toEqual(invalid('image_type_unsupported'));
});

test('a truncated picture and a pixel bomb fail alone and are not charged', async () => {
  const bomb = await sharp({ create: { width: 16_000, height: 16_000, channels: 3, background: '#000' } })
    .png({ compressionLevel: 9 })
    .toBuffer();
  const used = await caller.used('image');
  const broken = [jpeg(street.slice(0, street.length / 2)), { ...jpeg(bomb), type: 'image/png' }];
  const answer = await caller.detect(form(...broken, jpeg(street), scene('person_vehicle')));
  expect(answer.status).toBe(201);
  expect(resultsOf(answer.body).map(({ status, error_code }) => [status, error_code])).toEqual([
    ['failed', 'OP-TASK-REQUEST-INVALID'],
    ['failed', 'OP-TASK-REQUEST-INVALID'],
    ['succeeded', undefined],
  ]);
  expect(await caller.used('image')).toBe(used + 1);
});

test.each([
  ['no body', '', 'multipart/form-data; boundary=x'],
  [
    'a multipart body that stops in the middle',
    '--x\r\nContent-Disposition: form-data; name="files"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n\r\n\xff\xd8\xff',
    'multipart/form-data; boundary=x',
  ],
  ['no boundary', '--x--\r\n', 'multipart/form-data'],
  ['JSON', '{}', 'application/json'],
])('%s is refused with 400', async (_name, body, type) => {
  const answer = await caller.send('POST', '/v1/vision/image-detections', {
    body: Buffer.from(body, 'latin1'),
    headers: { 'idempotency-key': randomUUID(), 'content-type': type },
  });
  expect(refusal(answer).slice(0, 2)).toEqual([400, 'OP-TASK-REQUEST-INVALID']);
});

test('a client that goes away in the middle of its upload costs nothing and leaves the key free', async () => {
  const key = randomUUID();
  const used = await caller.used('image');
  const { headers, body } = new Response(form(jpeg(padded(4 * MiB))));
  const bytes = Buffer.from(await new Response(body).arrayBuffer());
  await new Promise<void>((resolve) => {
    const req = request(`${system.baseUrl}/v1/vision/image-detections`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${caller.key}`,
        'idempotency-key': key,
        'content-type': headers.get('content-type') ?? '',
        'content-length': bytes.length,
      },
    });
    req.on('error', () => undefined).on('close', resolve);
    req.write(bytes.subarray(0, 2 * MiB), () => req.destroy());
  });
  expect(await caller.used('image')).toBe(used);
  expect((await caller.detect(form(jpeg(street)), key)).status).toBe(201);
});
