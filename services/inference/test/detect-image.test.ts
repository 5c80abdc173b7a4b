import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import sharp from 'sharp';
import type { Sharp } from 'sharp';
import type { DetectedObject } from '@vision/contracts/detection';
import { detection, healthReply } from '@vision/contracts/inference';
import { plainPng, strangers, street } from './support/images.ts';
import { useInference } from './support/service.ts';

// The service shuts all loaders of its process, which is that of this test as well.
sharp.unblock({ operation: ['VipsForeignLoad'] });

const service = useInference();

const detect = (bytes: Buffer, query: string, headers: Record<string, string> = {}) =>
  fetch(`${service.base}/v1/detect?${query}`, { method: 'POST', body: new Uint8Array(bytes), headers });

async function objectsIn(bytes: Buffer, query: string): Promise<DetectedObject[]> {
  const reply = await detect(bytes, query);
  expect(reply.status).toBe(200);
  return detection.parse(await reply.json()).objects;
}

/** Where the four people of the street stand, by the middle of their boxes. */
const people = [
  [0.68, 0.453],
  [0.9, 0.545],
  [0.742, 0.451],
  [0.503, 0.383],
] as const;

const isAt = ({ bbox }: DetectedObject, [x, y]: readonly [number, number]) =>
  Math.hypot(bbox.cx - x, bbox.cy - y) < 0.02;

test.each<[string, (image: Sharp) => Sharp]>([
  ['JPEG', (image) => image.jpeg({ quality: 95 })],
  ['PNG', (image) => image.png()],
  ['WebP', (image) => image.webp({ quality: 95 })],
  ['JPEG stored on its side', (image) => image.rotate(270).jpeg({ quality: 95 }).withMetadata({ orientation: 6 })],
  ['PNG of twice the size', (image) => image.resize(1536, 1152).png({ compressionLevel: 1 })],
])('the four people of the street are found in a %s, each where they stand', async (_format, encode) => {
  const found = await objectsIn(await encode(sharp(street)).toBuffer(), 'scene_code=person_vehicle&min_score=0.94');
  const persons = found.filter(({ label }) => label === 'person');
  expect(persons).toHaveLength(4);
  for (const place of people) expect(persons.filter((person) => isAt(person, place))).toHaveLength(1);
});

test('without min_score everything at or above the lower bound of the scene is returned, best first', async () => {
  const reply = await detect(street, 'scene_code=person_vehicle');
  const { image, objects } = detection.parse(await reply.json());
  expect(image).toEqual({ width: 768, height: 576 });
  const scores = objects.map(({ score }) => score);
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  expect(scores.length).toBeGreaterThan(4);
  expect(Math.min(...scores)).toBeGreaterThanOrEqual(0.1145);
  expect(objects.some(({ label }) => label === 'truck' || label === 'car')).toBe(true);
});

test.each(['ship', 'cow_sheep', 'fire_smoke'])('the street holds nothing of the scene %s', async (scene) => {
  expect(await objectsIn(street, `scene_code=${scene}`)).toEqual([]);
});

test('the scene fishing finds people and no vehicles', async () => {
  const labels = (await objectsIn(street, 'scene_code=fishing')).map(({ label }) => label);
  expect(new Set(labels)).toEqual(new Set(['person']));
});

test('the declared type plays no part', async () => {
  const reply = await detect(street, 'scene_code=person_vehicle', { 'Content-Type': 'text/plain' });
  expect(reply.status).toBe(200);
});

test('health names the scenes, their words and what serves them', async () => {
  const reply = await fetch(`${service.base}/v1/health`);
  const { scenes } = healthReply.parse(await reply.json());
  expect(scenes.map(({ scene_code: code }) => code)).toEqual([
    'person_vehicle',
    'ship',
    'fishing',
    'fire_smoke',
    'cow_sheep',
  ]);
  expect(scenes.find(({ scene_code: code }) => code === 'cow_sheep')).toEqual({
    scene_code: 'cow_sheep',
    labels: ['cow', 'sheep'],
    lower_bound: 0.1145,
    model: 'nanodet-416:2',
    calibration: '1',
  });
  expect((await fetch(`${service.health}/health/ready`)).status).toBe(200);
});

test.each(['nowhere', 'helmet'])('the scene %s, which nothing serves, is 404', async (scene) => {
  const reply = await detect(street, `scene_code=${scene}`);
  expect([reply.status, await reply.json()]).toEqual([404, { reason: 'scene_unknown' }]);
});

test.each([
  ...Object.entries(strangers).map(([name, bytes]) => [name, bytes, 'not_an_image'] as const),
  ['a truncated JPEG', street.subarray(0, street.length / 2), 'not_decodable'] as const,
  ['a pixel bomb', plainPng(16_000, 16_000), 'too_many_pixels'] as const,
  ['a body of 9 MiB', Buffer.alloc(9 * 1024 * 1024), 'too_large'] as const,
])('%s is refused as the fault of the image', async (_name, bytes, reason) => {
  const reply = await detect(bytes, 'scene_code=fire_smoke');
  expect([reply.status, await reply.json()]).toEqual([422, { reason }]);
});

test('an image of exactly 8 MiB is accepted', async () => {
  const padded = Buffer.concat([street, Buffer.alloc(8 * 1024 * 1024 - street.length)]);
  expect(await objectsIn(padded, 'scene_code=person_vehicle&min_score=0.94')).toHaveLength(4);
});

test.each([
  '',
  'scene_code=',
  'scene_code=ship&scene_code=ship',
  'scene_code=ship&min_score=2',
  'scene_code=ship&min_score=-0.1',
  'scene_code=ship&min_score=',
  'scene_code=ship&min_score=high',
  'scene_code=ship&min_score=NaN',
  'scene_code=ship&min_score=0.5&min_score=0.6',
])('the query %p is invalid', async (query) => {
  const reply = await detect(street, query);
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ code: 'OP-TASK-REQUEST-INVALID' });
});

test('a client that goes away in the middle of the body leaves no place taken', async () => {
  const { port } = new URL(service.base);
  for (let round = 0; round < 50; round += 1) {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write('POST /v1/detect?scene_code=ship HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc', () =>
          socket.destroy(),
        );
      });
      socket.on('close', () => resolve());
    });
  }
  const replies = await Promise.all(Array.from({ length: 8 }, () => detect(street, 'scene_code=person_vehicle')));
  expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200));
});
