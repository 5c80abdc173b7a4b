import { expect, test } from '@jest/globals';
import type { Track } from '@vision/client';
import { TrackWindow } from './track-window.ts';
import type { TrackOrder } from './track-window.ts';

const bbox = { format: 'cxcywh_normalized' as const, cx: 0.5, cy: 0.5, width: 0.1, height: 0.1 };
const STEP_MS = 1000;

const trackAt = (index: number, changes: Partial<Track> = {}): Track => ({
  track_id: `t${index}`,
  label: 'car',
  state: 'ended',
  first_time_ms: index * STEP_MS,
  last_time_ms: index * STEP_MS + 900,
  frames: 5,
  best: { frame_id: 'f', frame_time_ms: index * STEP_MS, score: 0.9, bbox },
  first_bbox: bbox,
  last_bbox: bbox,
  mean_score: 0.9,
  snapshot: { state: 'none', reason: 'snapshots_off' },
  ...changes,
});

/** A task whose tracks change as the test says; pages and filters are those of the service. */
function taskOf(count: number, order: TrackOrder) {
  const tracks = Array.from({ length: count }, (_, index) => trackAt(index));
  const asked: { from_ms?: number; cursor?: string }[] = [];
  const sign = order === 'oldest' ? 1 : -1;
  const window = new TrackWindow({
    order,
    load: (query) => {
      asked.push(query);
      const after = query.cursor === undefined ? -Infinity : Number(query.cursor);
      const found = tracks
        .filter(({ last_time_ms: last }) => last >= (query.from_ms ?? -Infinity))
        .toSorted((a, b) => sign * (a.first_time_ms - b.first_time_ms))
        .filter(({ first_time_ms: first }) => sign * first > after);
      const items = found.slice(0, query.limit).map((track) => ({ ...track }));
      const hasMore = found.length > items.length;
      const next = hasMore ? String(sign * (items.at(-1)?.first_time_ms ?? 0)) : '';
      const newest = Math.max(...tracks.map(({ last_time_ms: last }) => last));
      return Promise.resolve({ items, next_cursor: next, as_of_ms: newest });
    },
  });
  const indexes = () => window.tracks.map(({ track_id: id }) => Number(id.slice(1)));
  return { tracks, window, asked, indexes };
}

test('once all pages are there, looking again leaves no further page to ask for', async () => {
  const { window, indexes } = taskOf(250, 'newest');
  await window.refresh();
  expect([window.tracks.length, window.hasMore]).toEqual([100, true]);
  await window.more();
  await window.more();
  expect([window.tracks.length, window.hasMore]).toEqual([250, false]);
  await window.refresh();
  expect([window.tracks.length, window.hasMore]).toEqual([250, false]);
  expect(indexes()).toEqual(Array.from({ length: 250 }, (_, index) => 249 - index));
});

test('a track that has left the newest page is seen to end, though many are newer', async () => {
  const { tracks, window } = taskOf(3, 'newest');
  tracks[0] = trackAt(0, { state: 'active', last_time_ms: 3000 });
  await window.refresh();
  expect(window.hasOpen).toBe(true);
  tracks.push(...Array.from({ length: 250 }, (_, index) => trackAt(index + 3)));
  tracks[0] = trackAt(0, { last_time_ms: 60_000 });
  await window.refresh();
  expect(window.tracks).toHaveLength(253);
  expect(window.tracks.at(-1)).toMatchObject({ track_id: 't0', state: 'ended', last_time_ms: 60_000 });
  expect(window.hasOpen).toBe(false);
});

test('an image that comes after the end of its track is shown', async () => {
  const { tracks, window } = taskOf(2, 'oldest');
  tracks[1] = trackAt(1, { snapshot: { state: 'pending' } });
  await window.refresh();
  expect(window.hasOpen).toBe(true);
  tracks[1] = trackAt(1, { snapshot: { state: 'available', frame_id: 'f' } });
  await window.refresh();
  expect(window.tracks.at(-1)?.snapshot.state).toBe('available');
  expect(window.hasOpen).toBe(false);
});

test('tracks behind the last page stay there until they are asked for', async () => {
  const { tracks, window, asked, indexes } = taskOf(150, 'oldest');
  tracks[5] = trackAt(5, { state: 'active', last_time_ms: 120_000 });
  await window.refresh();
  tracks[5] = trackAt(5, { last_time_ms: 121_000 });
  tracks.push(...Array.from({ length: 30 }, (_, index) => trackAt(150 + index)));
  await window.refresh();
  expect(indexes()).toEqual(Array.from({ length: 100 }, (_, index) => index));
  expect(window.hasOpen).toBe(false);
  // Nothing of this page can change any more.
  const before = asked.length;
  await window.refresh();
  expect(asked).toHaveLength(before);
  await window.more();
  expect(indexes()).toHaveLength(180);
});

test('new tracks of a video follow where all are shown, a thousand at a time', async () => {
  const { tracks, window, indexes } = taskOf(1, 'oldest');
  await window.refresh();
  tracks.push(...Array.from({ length: 1100 }, (_, index) => trackAt(index + 1)));
  await window.refresh();
  expect([window.tracks.length, window.hasMore]).toEqual([1000, true]);
  await window.more();
  await window.more();
  expect(indexes()).toEqual(Array.from({ length: 1101 }, (_, index) => index));
  expect(window.hasMore).toBe(false);
});

test('after a long time the newest tracks of a stream are shown, and none is left out between them', async () => {
  const { tracks, window, indexes } = taskOf(50, 'newest');
  await window.refresh();
  tracks.push(...Array.from({ length: 1100 }, (_, index) => trackAt(index + 50)));
  await window.refresh();
  expect([window.tracks.length, window.hasMore]).toEqual([1000, true]);
  await window.more();
  await window.more();
  expect(indexes()).toEqual(Array.from({ length: 1150 }, (_, index) => 1149 - index));
  expect(window.hasMore).toBe(false);
});

test('a task without tracks gets its first ones', async () => {
  const { tracks, window } = taskOf(0, 'newest');
  await window.refresh();
  expect(window.hasMore).toBe(false);
  tracks.push(trackAt(0));
  await window.refresh();
  expect(window.tracks).toHaveLength(1);
});
