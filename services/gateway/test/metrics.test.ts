import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { outcomeHeader, outcomeText } from '@vision/contracts/outcome';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { bearer, exchange, startGateway } from './support/gateway.ts';
import type { TestGateway } from './support/gateway.ts';

const metrics = testMetrics();
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const requests = async (labels: Record<string, string>) =>
  (await metrics.sumOf('vision.gateway.requests', labels)) ?? 0;

test('requests are counted by operation, status, and the code and reason of a refusal of ours', async () => {
  await exchange(`${gateway.url}/api/op/v1/scenes`);
  const refused = { operation: 'none', status: '401', code: 'OP-AUTH-REQUIRED', reason: 'api_key_missing' };
  await until(async () => (await requests(refused)) === 1);
  const { key } = await gateway.newKey();
  await exchange(`${gateway.url}/api/op/v1/scenes`, 'GET', { headers: bearer(key) });
  await until(async () => (await requests({ operation: 'listScenes', status: '200', code: '', reason: '' })) === 1);
  const measured = { operation: 'listScenes', status_class: '2xx' };
  expect(await metrics.sumOf('vision.gateway.request.duration', measured)).toBe(1);
});

test('so are refusals of a service behind, which it tells in a header that the caller does not get', async () => {
  const { key } = await gateway.newKey();
  const told = { code: 'OP-TASK-REQUEST-INVALID', reason: 'file_too_large' };
  gateway.upstream.answer = (_req, res) => {
    res.writeHead(400, { [outcomeHeader]: outcomeText(told), 'Content-Type': 'application/problem+json' }).end('{}');
  };
  const answer = await exchange(`${gateway.url}/v1/vision/tasks`, 'GET', { headers: bearer(key) });
  expect([answer.status, answer.headers.has(outcomeHeader)]).toEqual([400, false]);
  await until(async () => (await requests({ operation: 'listTasks', status: '400' })) === 1);
  expect(await requests({ operation: 'listTasks', status: '400', ...told })).toBe(1);
});

test('uploads are counted while they are under way', async () => {
  const { key } = await gateway.newKey();
  const held: ServerResponse[] = [];
  gateway.upstream.answer = (req, res) => {
    req.resume();
    held.push(res);
  };
  const send = () => exchange(`${gateway.url}/v1/vision/image-detections`, 'POST', { headers: bearer(key), body: 'x' });
  const answers = [send(), send()];
  const underWay = () => metrics.sumOf('vision.gateway.uploads');
  await until(async () => held.length === 2 && (await underWay()) === 2);
  for (const res of held) res.writeHead(201).end();
  await Promise.all(answers);
  await until(async () => (await underWay()) === 0);
});
