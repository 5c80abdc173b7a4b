import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { atMost } from '@vision/shared/async/at-most';
import { testToken } from '@vision/shared/testing/service-keys';
import { startQuota } from './support.ts';

test('a request that does not end holds up a stop for no longer than SHUTDOWN_GRACE_MS', async () => {
  const quota = await startQuota({ SHUTDOWN_GRACE_MS: '2000' });
  const token = await testToken('tasks', 'quota', { subject: 'slow' });
  const socket = connect(quota.service.port, '127.0.0.1').on('error', () => undefined);
  socket.write(
    'PUT /internal/v1/reservations/slow HTTP/1.1\r\nHost: quota\r\nExpect: 100-continue\r\n' +
      `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`,
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 100 /);

  const http = quota.service.stopPhases.find(({ name }) => name === 'http');
  // Far less than the request may take, and enough for a busy machine.
  const isDoneInTime = http && (await atMost(15_000, http.stop()));
  socket.destroy();
  await quota.stop();
  expect(isDoneInTime).toBe(true);
});
