import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { VisionClient } from '@vision/client';
import { verifyWebhook } from '@vision/client/webhooks';

/** Names of the rule, of the endpoint, and of the camera that the rule is for. */
const NAME = 'demo';
const PATIENCE_MS = 20_000;

/**
 * Stores a rule for the camera `demo` that raises an alarm when a person was there for a second, and receives its
 * webhook on a server of its own.
 */
export async function receiveAlarm(client: VisionClient) {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const { promise: line, resolve } = Promise.withResolvers<string>();
  const server = createServer((req, res) => {
    text(req)
      .then((body) => {
        const event = verifyWebhook(body, req.headers, secret);
        res.writeHead(204).end();
        if ('alarm' in event.data) resolve(`${event.type} at ${event.timestamp}: ${event.data.alarm.labels.join()}`);
      })
      // A request that is not signed with the secret is not from the service.
      .catch(() => res.writeHead(400).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const endpoint = { params: { path: { endpoint_id: NAME } } };
  const made = await client.api.PUT('/v1/vision/webhook-endpoints/{endpoint_id}', {
    ...endpoint,
    body: { url, secret, event_types: ['alarm.opened'], enabled: true },
  });
  const stored = await client.api.PUT('/v1/vision/alarm-rules/{rule_id}', {
    params: { path: { rule_id: NAME } },
    body: {
      name: 'A person in the street',
      enabled: true,
      min_interval_ms: 60_000,
      scope: { client_refs: [NAME] },
      when: {
        kind: 'object_present',
        labels: ['person'],
        anchor: 'bottom_center',
        min_count: 1,
        for_ms: 1000,
        clear_ms: 5000,
      },
    },
  });
  const refused = made.error ?? stored.error;
  if (refused) throw new Error(`no alarm can be received: ${refused.detail}`);
  return {
    clientRef: NAME,
    /** Prints the alarm when its webhook has arrived and its signature is right. */
    print: async () => {
      const timer = setTimeout(() => resolve('none has arrived'), PATIENCE_MS);
      console.log(`  alarm by webhook, signature checked: ${await line}`);
      clearTimeout(timer);
    },
    close: async () => {
      await client.api.DELETE('/v1/vision/webhook-endpoints/{endpoint_id}', endpoint);
      server.close();
      server.closeAllConnections();
    },
  };
}
