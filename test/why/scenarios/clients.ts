import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Scenario } from '../scenario.ts';
import { example } from '../../support/system.ts';
import { limits } from '../settings.ts';

const REQUEST_ID = 'why-slow-client';
const EVERY_MS = 200;
const BYTES = 100;

/** Where it is the client that is late. */
export const clients: readonly Scenario[] = [
  {
    name: 'client',
    title: 'A client uploads too slowly',
    broken: 'The client sends 100 bytes of its video every 0.2 s. The gateway closes the connection.',
    expected: { service: 'gateway', upstream: 'tasks', outcome: 'client_slow', limitMs: limits.paceWindowMs },
    run: async ({ baseUrl }, caller) => {
      const { hostname, port } = new URL(baseUrl);
      const socket = connect(Number(port), hostname);
      // We are cut off by a reset.
      socket.on('error', () => undefined);
      socket.write(
        [
          'POST /v1/vision/video-tasks HTTP/1.1',
          'Host: vision',
          `Authorization: Bearer ${caller.key}`,
          `X-Request-Id: ${REQUEST_ID}`,
          `Idempotency-Key: ${randomUUID()}`,
          'Content-Type: multipart/form-data; boundary=part',
          'Content-Length: 1000000\r\n',
          '--part\r\nContent-Disposition: form-data; name="file"; filename="a.mp4"\r\nContent-Type: video/mp4\r\n\r\n',
        ].join('\r\n'),
      );
      const file = await example('street.mp4');
      for (let sent = 0; !socket.destroyed; sent += BYTES) {
        socket.write(file.subarray(sent, sent + BYTES));
        await delay(EVERY_MS);
      }
      return { requestId: REQUEST_ID, seen: 'a connection that is closed, and no answer' };
    },
  },
];
