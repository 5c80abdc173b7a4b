import { spawn } from 'node:child_process';
import { availableParallelism, getPriority } from 'node:os';
import { expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { lowerPriority } from '../src/sandbox/lower-priority.ts';
import { processorTimeByGroup, processorWaitByGroup, threadsOf } from '../src/sandbox/processor-time.ts';

test('the processor time of a group holds that of its programs while they run', async () => {
  const child = spawn('sh', ['-c', 'while :; do :; done'], { detached: true, stdio: 'ignore' });
  const group = child.pid ?? 0;
  const spent = () => processorTimeByGroup().get(group) ?? 0;
  try {
    await until(() => spent() >= 200);
    const before = spent();
    await until(() => spent() > before);
  } finally {
    process.kill(-group, 'SIGKILL');
  }
  await until(() => spent() === 0);
});

test('a group that is not there has no time', () => {
  expect(processorTimeByGroup().has(2 ** 22 + 1)).toBe(false);
});

test('a group whose threads want more processors than there are waits', async () => {
  const loops = Array.from({ length: 2 * availableParallelism() }, () => 'while :; do :; done &').join(' ');
  const child = spawn('sh', ['-c', `${loops} wait`], { detached: true, stdio: 'ignore' });
  const group = child.pid ?? 0;
  try {
    await until(() => (processorWaitByGroup([group]).get(group) ?? 0) > 100);
    expect(processorWaitByGroup([2 ** 22 + 1]).size).toBe(0);
  } finally {
    process.kill(-group, 'SIGKILL');
  }
});

test('all threads of a group get a lower priority, and those that they start later', async () => {
  const decode = 'ffmpeg -v error -threads 4 -f lavfi -i testsrc=s=640x360:r=1000 -f null -';
  const child = spawn('sh', ['-c', `${decode} & wait; ${decode}`], { detached: true, stdio: 'ignore' });
  const group = child.pid ?? 0;
  const threads = () => [...threadsOf([group])];
  const areLowered = () => threads().length > 3 && threads().every(({ thread }) => getPriority(thread) === 10);
  try {
    // A thread may be started by one that is not lowered yet.
    await until(() => {
      lowerPriority(group, 10);
      return areLowered();
    });
    const first = threads().find(({ pid }) => pid !== group)?.pid ?? 0;
    process.kill(first);
    await until(() => areLowered() && threads().every(({ pid }) => pid !== first));
  } finally {
    process.kill(-group, 'SIGKILL');
  }
});
