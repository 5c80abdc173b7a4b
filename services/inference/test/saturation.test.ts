import { expect, test } from '@jest/globals';
import { street } from './support/pictures.ts';
import { useInference } from './support/service.ts';

const token = 'a-token-for-the-backend';
const service = useInference({ DETECT_QUEUE: '1', INFERENCE_TOKEN: token });

const detect = (headers: Record<string, string>) =>
  fetch(`${service.base}/v1/detect?scene_code=person_vehicle`, {
    method: 'POST',
    body: new Uint8Array(street),
    headers,
  });

test('pictures beyond the places are turned away at once with a time to come back, and later ones are served', async () => {
  const authorized = { Authorization: `Bearer ${token}` };
  const replies = await Promise.all(Array.from({ length: 20 }, () => detect(authorized)));
  const turnedAway = replies.filter(({ status }) => status === 503);
  expect(replies.every(({ status }) => status === 200 || status === 503)).toBe(true);
  expect(turnedAway.length).toBeGreaterThan(0);
  expect(replies.length - turnedAway.length).toBeGreaterThanOrEqual(3);
  for (const reply of turnedAway) {
    expect(Number(reply.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(await reply.json()).toEqual({ reason: 'saturated' });
  }
  expect((await detect(authorized)).status).toBe(200);
});

test('callers without the token are refused, health is open', async () => {
  expect((await detect({})).status).toBe(401);
  expect((await detect({ Authorization: 'Bearer another-token-altogether' })).status).toBe(401);
  expect((await fetch(`${service.base}/v1/health`)).status).toBe(200);
});
