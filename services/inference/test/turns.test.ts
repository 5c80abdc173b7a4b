import { beforeAll, expect, test } from '@jest/globals';
import { ownerHeader } from '@vision/contracts/inference';
import { createGate } from '@vision/shared/async/gate';
import { createLogger } from '@vision/shared/logger';
import sharp from 'sharp';
import type { ServedScene } from '../src/detectors/detectors.ts';
import { createSignals } from '../src/signals.ts';
import type { Deps } from '../src/use-cases/deps.ts';
import { detectImage } from '../src/use-cases/detect-image.ts';
import { street } from './support/images.ts';
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

test('an ordinary image is answered while other owners fill every slot with expensive ones', async () => {
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
  // The images that were in decoding and detection, and those answered before the ordinary one arrived; the others
  // still wait. Behind all of them it would be seven.
  expect(answered - before).toBeLessThanOrEqual(4);
  expect(await Promise.all(flood)).toEqual(Array(8).fill(200));
});

test('expensive images in decoding hold no slot that an ordinary one needs', async () => {
  const { promise: decided, resolve: decide } = Promise.withResolvers<void>();
  const decoded = {
    original: { width: 1, height: 1 },
    image: { width: 1, height: 1, data: Buffer.alloc(3) },
    cpuMs: 1,
  };
  const detector = { model: 'none', fit: () => decoded.original, detect: async () => [] };
  const scene = { scene_code: 'any', labels: [], lower_bound: 0 } as unknown as ServedScene['scene'];
  const deps = {
    detectors: { find: () => ({ scene, detector }) } as unknown as Deps['detectors'],
    imageDecoder: {
      start: () => undefined,
      stop: () => undefined,
      decode: async (bytes: Uint8Array) => {
        if (bytes !== street) await decided;
        return decoded;
      },
    },
    detectionGate: createGate({ concurrency: 2 }),
    imageAnswerMs: 60_000,
    signals: createSignals(createLogger('inference', 'silent')),
  };
  const outcomeOf = async (owner: string, bytes: Buffer) => {
    const { signal } = new AbortController();
    return (await detectImage(deps, { sceneCode: 'any', minScore: 0, bytes, owner, signal })).kind;
  };
  const flood = ['one', 'other'].flatMap((owner) => [outcomeOf(owner, expensive), outcomeOf(owner, expensive)]);
  expect(await outcomeOf('honest', street)).toBe('detected');
  decide();
  expect(await Promise.all(flood)).toEqual(Array(4).fill('detected'));
});

test('an image waits for a turn of each other owner, not for all their images', async () => {
  let answered = 0;
  const flood = ['one', 'other'].flatMap((owner) =>
    Array.from({ length: 10 }, () => detect(service, owner, street).then(() => (answered += 1))),
  );
  await Promise.any(flood);
  const before = answered;
  expect((await detect(service, 'honest', street)).status).toBe(200);
  // Behind all their images it would be nineteen.
  expect(answered - before).toBeLessThanOrEqual(10);
  await Promise.all(flood);
});

test('an image without a turn in time is turned away as when all slots are taken', async () => {
  const replies = await Promise.all(Array.from({ length: 6 }, () => detect(hurried, 'flood', expensive)));
  const turnedAway = replies.filter(({ status }) => status === 503);
  expect(turnedAway.length).toBeGreaterThan(0);
  for (const reply of turnedAway) {
    expect(Number(reply.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(await reply.json()).toEqual({ reason: 'saturated' });
  }
});
