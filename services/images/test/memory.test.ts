import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { startChild } from './support/child.ts';
import type { Child } from './support/child.ts';
import { files, multipart, picture } from './support/form.ts';
import { createWorld } from './support/start-images.ts';
import type { World } from './support/start-images.ts';

let world: World;
let child: Child | undefined;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(async () => {
  await child?.stop();
  await world.close();
});

test('eight calls of ten images of 8 MiB at once stay below 400 MB of memory', async () => {
  // The neighbours run in this process, which is busy with sending 640 MiB.
  child = await startChild({
    ...world.env,
    QUOTA_TIMEOUT_MS: '170000',
    DETECT_TIMEOUT_MS: '170000',
    CALL_TIMEOUT_MS: '175000',
  });
  const images = files(...Array.from({ length: 10 }, (_, index) => picture(`m${index}`, { bytes: 8 * 1024 * 1024 })));
  const body = multipart(images);
  const { detect, pid } = child;
  const answers = await Promise.all(Array.from({ length: 8 }, () => detect(body)));
  expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
  const peakKib = Number(/VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
  expect(peakKib * 1024).toBeLessThan(400e6);
});
