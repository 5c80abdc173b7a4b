import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { until } from '@vision/shared/testing/until';
import { verifyWebhook } from '../../../packages/client/src/webhooks.ts';
import type { Rotation, Stage } from '../rotation.ts';

/**
 * Keys of webhook addresses and secrets. An endpoint of the old key is sent a test after each step, the last included:
 * by then its address and secret are encrypted with the new key.
 */
export function webhookKeys({ world, createCaller }: Stage): Rotation {
  const old = world.secrets.WEBHOOK_KEYS;
  const next = `2:${randomBytes(32).toString('base64')}`;
  const services = ['notify'] as const;
  const endpoint = '/v1/vision/webhook-endpoints/rotated';
  let caller: Awaited<ReturnType<typeof createCaller>> | undefined;
  let secret = '';
  let verified = 0;
  const receiver = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const headers = req.headers as Record<string, string | string[] | undefined>;
      verifyWebhook(Buffer.concat(chunks).toString(), headers, secret);
      verified += 1;
      res.writeHead(204).end();
    });
  });
  const register = async () => {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    receiver.unref();
    caller = await createCaller();
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const body = JSON.stringify({ url, event_types: ['task.failed'] });
    const made = await caller.send('PUT', endpoint, { body, headers: { 'content-type': 'application/json' } });
    secret = String(made.body['secret']);
  };
  const isSent = async () => {
    const before = verified;
    await caller?.send('POST', `${endpoint}/test`);
    await until(() => verified > before);
  };
  return {
    name: 'webhook-keys',
    says: 'Keys of webhooks (`WEBHOOK_KEYS`)',
    steps: [
      {
        says: 'append the new one',
        services,
        secrets: () => ({ WEBHOOK_KEYS: `${old},${next}` }),
        before: register,
        after: isSent,
      },
      {
        says: 'move it to the front; notify encrypts what there is with it',
        services,
        secrets: () => ({ WEBHOOK_KEYS: `${next},${old}` }),
        after: isSent,
      },
      {
        says: 'take the old one out when no endpoint is encrypted with it',
        services,
        secrets: () => ({ WEBHOOK_KEYS: next }),
        after: async () => {
          await isSent();
          receiver.close();
        },
      },
    ],
    stillOpen: () => Promise.resolve([]),
  };
}
