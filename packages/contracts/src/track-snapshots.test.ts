import { expect, test } from '@jest/globals';
import { placeOfTrackSnapshot, trackSnapshotKey, TRACK_SNAPSHOT_PREFIX } from './track-snapshots.ts';

const taskId = '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10';
const own = `${TRACK_SNAPSHOT_PREFIX}of-5f0e7c1a-9d3b-4f57-8a55-0c6d4c1f2b11/`;

test.each(['a1-7', '7', 'x-1x2.jpg', '...'])('the key of a snapshot names its task and the track %s', (trackId) => {
  const key = trackSnapshotKey(own, { taskId, trackId }, '3x5f3a9c20') ?? '';
  expect(key).toMatch(/^track-snapshots\/of-[^/]+\/2026-/);
  expect(placeOfTrackSnapshot(key)).toEqual({ taskId, trackId });
});

test('an id that is no task of this system has no key', () => {
  expect(
    trackSnapshotKey(own, { taskId: '9b2e4f3a-7c1d-4e5f-8a9b-0c1d2e3f4a5b', trackId: 'a1-7' }, '1'),
  ).toBeUndefined();
});

const key = trackSnapshotKey(own, { taskId, trackId: 'a1-7' }, '1') ?? '';
test.each([
  key.replace('track-snapshots/', 'pictures/'),
  key.replace('track-snapshots/', 'track-snapshots/../pictures/'),
  key.replace(/\d{4}-\d\d-\d\d/, '2020-01-01'),
  key.replace('a1-7-1', 'a1/7-1'),
  key.replace('a1-7-1', ''),
  key.replace('.jpg', ''),
  `${key}x`,
  '',
])('%s is no key of a snapshot', (odd) => {
  expect(placeOfTrackSnapshot(odd)).toBeUndefined();
});
