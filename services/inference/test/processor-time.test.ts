import { spawn } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { processorTimeByGroup } from '../src/sandbox/processor-time.ts';

test('the processor time of a group holds that of its programs while they run', async () => {
  const child = spawn('sh', ['-c', 'while :; do :; done'], { detached: true, stdio: 'ignore' });
  const group = child.pid ?? 0;
  const spent = () => processorTimeByGroup().get(group) ?? 0;
  try {
    await until(() => spent() >= 200, { timeoutMs: 30_000 });
    const before = spent();
    await until(() => spent() > before, { timeoutMs: 30_000 });
  } finally {
    process.kill(-group, 'SIGKILL');
  }
  await until(() => spent() === 0, { timeoutMs: 30_000 });
});

test('a group that is not there has no time', () => {
  expect(processorTimeByGroup().has(2 ** 22 + 1)).toBe(false);
});
