import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@vision/shared/testing/until';
import { verifyWebhook } from '../../packages/client/src/webhooks.ts';
import { Caller } from '../support/system.ts';

interface Told {
  type: string;
  data: { task?: { task_id: string } };
}

/** A receiver as a customer has it: what does not verify is not taken. */
const told: Told[] = [];
let secret = '';
const receiver = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const headers = req.headers as Record<string, string | string[] | undefined>;
    told.push(verifyWebhook(Buffer.concat(chunks).toString(), headers, secret) as Told);
    res.writeHead(204).end();
  });
});
// Enough of an FLV stream for the probe; it stays open, so the task runs until it is stopped.
const stream = createServer((_req, res) => {
  res.writeHead(200, { 'content-type': 'video/x-flv' });
  res.write(Buffer.concat([Buffer.from('464c5601050000000900000000', 'hex'), Buffer.alloc(1000)]));
});
const addressOf = (server: typeof receiver) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
let caller: Caller;

beforeAll(async () => {
  caller = await Caller.create({ video_tasks_per_day: 5 });
  for (const server of [receiver, stream]) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  for (const server of [receiver, stream]) {
    server.close();
    server.closeAllConnections();
  }
});

test('an endpoint is sent the life of a task, signed, and what pages of events show', async () => {
  const body = JSON.stringify({ url: addressOf(receiver), event_types: ['task.running', 'task.stopped'] });
  const headers = { 'content-type': 'application/json' };
  const made = await caller.send('PUT', '/v1/vision/webhook-endpoints/e2e', { body, headers });
  expect(made.status).toBe(201);
  secret = String(made.body['secret']);
  const { body: created } = await caller.createStream({
    scene_code: 'person_vehicle',
    stream_url: addressOf(stream),
  });
  const taskId = String(created['task_id']);
  await until(() => told.some(({ type }) => type === 'task.running'));
  await caller.stop(taskId);
  await until(() => told.some(({ type }) => type === 'task.stopped'));
  const page = await caller.get('/v1/vision/events');
  expect(page.body['items']).toEqual(expect.arrayContaining(told));
  expect(new Set(told.map(({ data }) => data.task?.task_id))).toEqual(new Set([taskId]));
  await caller.send('DELETE', '/v1/vision/webhook-endpoints/e2e');
});
