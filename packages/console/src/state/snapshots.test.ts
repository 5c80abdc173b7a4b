import { beforeEach, expect, test } from '@jest/globals';
import { createVisionClient } from '@vision/client';
import { forgetSnapshots, snapshotOf } from './snapshots.ts';

const MIB = 1024 * 1024;

/** A service whose images have this size; `asked` are the tracks that it was asked for. */
function serviceWith(bytes: number) {
  const asked: string[] = [];
  const fetch = (request: Request) => {
    asked.push(/tracks\/([^/]+)/.exec(request.url)?.[1] ?? '');
    return Promise.resolve(new Response(new Uint8Array(bytes), { headers: { 'content-type': 'image/jpeg' } }));
  };
  const client = createVisionClient({ baseUrl: 'http://localhost', apiKey: '', maxRetryMs: 0, fetch });
  const show = (trackId: string, frameId?: string) =>
    snapshotOf(client, { taskId: 'task', trackId, frameId }, new AbortController().signal);
  return { asked, show };
}

beforeEach(forgetSnapshots);

test('an image that was shown lately is not asked for again, until the key is another one', async () => {
  const { asked, show } = serviceWith(1);
  const first = await show('a');
  expect(await show('a')).toBe(first);
  expect(asked).toEqual(['a']);
  forgetSnapshots();
  await show('a');
  expect(asked).toEqual(['a', 'a']);
});

test('a better image of a track takes the place of the first one', async () => {
  const { asked, show } = serviceWith(1);
  await show('a', 'task-1');
  await show('a', 'task-9');
  await show('a', 'task-9');
  expect(asked).toEqual(['a', 'a']);
});

test('at most 64 MiB are held; what was shown last stays', async () => {
  const { asked, show } = serviceWith(20 * MIB);
  for (const trackId of ['a', 'b', 'c']) await show(trackId);
  await show('a');
  // The fourth takes the place of the one that was not shown for longest.
  await show('d');
  await show('a');
  await show('c');
  expect(asked).toEqual(['a', 'b', 'c', 'd']);
  await show('b');
  expect(asked).toEqual(['a', 'b', 'c', 'd', 'b']);
});
