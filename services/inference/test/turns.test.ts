import { beforeAll, expect, test } from '@jest/globals';
import { ownerHeader } from '@vision/shared/contracts/inference';
import sharp from 'sharp';
import { street } from './support/pictures.ts';
import { useInference } from './support/service.ts';

const service = useInference({ DETECT_THREADS: '1', DETECT_ANSWER_MS: '120000' });
const hurried = useInference({ DETECT_THREADS: '1', DETECT_ANSWER_MS: '400' });
let expensive: Buffer;

beforeAll(async () => {
  // Many pixels of 16 bits: about half a second of processor time, and far below every limit.
  const plain = { width: 3_400, height: 3_400, channels: 4 as const, background: '#14141480' };
  expensive = await sharp({ create: plain }).toColourspace('rgb16').png({ progressive: true }).toBuffer();
});

async function detect({ base }: { base: string }, owner: string, picture: Buffer): Promise<Response> {
  return fetch(`${base}/v1/detect?scene_code=person_vehicle`, {
    method: 'POST',
    body: new Uint8Array(picture),
    headers: { [ownerHeader]: owner },
  });
}

test('an ordinary picture is answered while others fill every place with expensive ones', async () => {
  let answered = 0;
  const flood = ['one', 'other'].flatMap((owner) =>
    Array.from({ length: 4 }, async () => {
      const reply = await detect(service, owner, expensive);
      answered += 1;
      return reply.status;
    }),
  );
  await Promise.any(flood);
  const before = answered;
  expect((await detect(service, 'honest', street)).status).toBe(200);
  // Those that were being decoded and detected; the others still wait for each other.
  expect(answered - before).toBeLessThanOrEqual(2);
  expect(await Promise.all(flood)).toEqual(Array(8).fill(200));
}, 120_000);

test('a picture waits for a turn of each other owner, not for all that they sent', async () => {
  let answered = 0;
  const flood = ['one', 'other'].flatMap((owner) =>
    Array.from({ length: 10 }, () => detect(service, owner, street).then(() => (answered += 1))),
  );
  await Promise.any(flood);
  const before = answered;
  expect((await detect(service, 'honest', street)).status).toBe(200);
  expect(answered - before).toBeLessThanOrEqual(6);
  await Promise.all(flood);
}, 120_000);

test('a picture whose turn does not come in time is turned away as for lack of room', async () => {
  const replies = await Promise.all(Array.from({ length: 6 }, () => detect(hurried, 'flood', expensive)));
  const turnedAway = replies.filter(({ status }) => status === 503);
  expect(turnedAway.length).toBeGreaterThan(0);
  for (const reply of turnedAway) {
    expect(Number(reply.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(await reply.json()).toEqual({ reason: 'saturated' });
  }
});
