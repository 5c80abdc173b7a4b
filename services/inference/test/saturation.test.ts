import { expect, test } from '@jest/globals';
import { testMetrics } from '@vision/shared/testing/metrics';
import { testPublicKeys, testToken } from '@vision/shared/testing/service-keys';
import { until } from '@vision/shared/testing/until';
import { street } from './support/images.ts';
import { useInference } from './support/service.ts';

const metrics = testMetrics();
const token = 'a-token-for-the-backend';
const service = useInference({
  DETECT_QUEUE: '1',
  INFERENCE_TOKEN: token,
  SERVICE_PUBLIC_KEYS: testPublicKeys,
  DEVELOPMENT_WITHOUT_TOKEN: 'false',
});

const detect = (headers: Record<string, string>) =>
  fetch(`${service.base}/v1/detect?scene_code=person_vehicle`, {
    method: 'POST',
    body: new Uint8Array(street),
    headers,
  });

test('images beyond the slots are turned away at once with a retry time, and later ones are served', async () => {
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

test('an autoscaler sees the current and the maximum number of images', async () => {
  const places = await metrics.sumOf('vision.inference.places');
  expect(places).toBeGreaterThanOrEqual(3);
  // An image releases its slot right after its response.
  await until(async () => (await metrics.sumOf('vision.inference.load')) === 0);
  const replies = Array.from({ length: 20 }, () => detect({ Authorization: `Bearer ${token}` }));
  await until(async () => Number(await metrics.sumOf('vision.inference.load')) > 1);
  await Promise.all(replies);
  await until(async () => (await metrics.sumOf('vision.inference.load')) === 0);
});

test('services call what they may without knowing the static token, and nothing else', async () => {
  const bearer = async (service: 'images' | 'tasks') => ({
    Authorization: `Bearer ${await testToken(service, 'inference', { subject: 'service' })}`,
  });
  expect((await detect(await bearer('images'))).status).toBe(200);
  expect((await detect(await bearer('tasks'))).status).toBe(403);
  expect(
    (await detect({ Authorization: `Bearer ${await testToken('images', 'quota', { subject: 's' })}` })).status,
  ).toBe(401);
});

test('callers without the token are refused, health is open', async () => {
  expect((await detect({})).status).toBe(401);
  expect((await detect({ Authorization: 'Bearer another-token-altogether' })).status).toBe(401);
  expect((await fetch(`${service.base}/v1/health`)).status).toBe(200);
});
