import { expect, test } from '@jest/globals';
import type { Answer } from './system.ts';
import { watchDisagreements } from './watch-agreement.ts';

const TASK = '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10';

/** Three frames of two objects over three seconds, and a second without frames behind them. */
const agreeing = () => ({
  results: {
    items: [['a1-1'], ['a1-1', 'a1-2'], ['a1-1', 'a1-2']].map((ids) => ({
      objects: ids.map((track_id) => ({ track_id })),
    })),
    next_cursor: '',
  },
  tracks: {
    items: [
      { track_id: 'a1-1', frames: 3 },
      { track_id: 'a1-2', frames: 2 },
    ],
    next_cursor: '',
  },
  timeline: {
    coverage: { from_ms: 0, to_ms: 4000, covered_ms: 3000, gaps: 1 },
    items: [{ frames: 1 }, { frames: 2 }],
    gaps: [{ from_ms: 3000, to_ms: 4000 }],
  },
});
type Views = ReturnType<typeof agreeing>;

/** A caller who is shown these views of the task. */
const shown = (views: Views) => ({
  get: (path: string): Promise<Answer> => {
    const name = /^\/v1\/vision\/tasks\/[^/]+\/(results|tracks|timeline)(\?|$)/.exec(path)?.[1] as keyof Views;
    return Promise.resolve({ status: 200, headers: new Headers(), text: '', body: views[name] });
  },
});

test('finds nothing where frames, tracks and timeline agree', async () => {
  expect(await watchDisagreements(shown(agreeing()), TASK)).toEqual([]);
});

test.each<[string, (views: Views) => unknown, string[]]>([
  [
    'a frame more in the timeline',
    ({ timeline }) => timeline.items.push({ frames: 1 }),
    ['the timeline has 4 of 3 frames'],
  ],
  [
    'a track that is listed twice',
    ({ tracks: { items } }) => items.push(...items.slice(0, 1)),
    ['1 tracks are listed twice'],
  ],
  [
    'a track with too few frames',
    ({ tracks }) => tracks.items.splice(0, 1, { track_id: 'a1-1', frames: 2 }),
    ['track a1-1 says 2 frames and has 3'],
  ],
  [
    'a track without a frame',
    ({ tracks }) => tracks.items.push({ track_id: 'a1-9', frames: 1 }),
    ['track a1-9 says 1 frames and has 0'],
  ],
  ['a track that is missing', ({ tracks }) => tracks.items.pop(), ['no track a1-2']],
  [
    'time that is neither covered nor a gap',
    ({ timeline }) => (timeline.coverage.covered_ms -= 1000),
    ['2000 ms are covered and 1000 ms are gaps, of 4000 ms'],
  ],
])('finds %s', async (_what, change, breaches) => {
  const views = agreeing();
  change(views);
  expect(await watchDisagreements(shown(views), TASK)).toEqual(breaches.map((breach) => `task ${TASK}: ${breach}`));
});
