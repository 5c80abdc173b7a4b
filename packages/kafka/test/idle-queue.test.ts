import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const fixture = fileURLToPath(new URL('./fixtures/resting-client.ts', import.meta.url));

// Node says so itself when a timer with a delay in the past is about to spin.
test('a connection to Kafka that has nothing to do sets no timers', async () => {
  const env = { ...process.env, NODE_OPTIONS: '' };
  const { stderr } = await promisify(execFile)(process.execPath, ['--conditions=@vision/source', fixture], { env });
  expect(stderr).toBe('');
});
