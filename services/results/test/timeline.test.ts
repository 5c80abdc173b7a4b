import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { FrameData } from '@vision/contracts/frame-events';
import type { SourceChangedData } from '@vision/contracts/job-events';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import type { SegmentStore } from '../src/clients/segment-store.ts';
import { foldTask } from '../src/use-cases/fold/fold-task.ts';
import { storeSource } from '../src/use-cases/store/store-source.ts';
import { foldDeps } from './fold-deps.ts';
import { makeOlder } from './older-hours.ts';
import { formsOf, frame, mark, newTaskId, object, snapshot, startResults, taskIdAt, testResults } from './support.ts';
import type { TestResults } from './support.ts';

let database: TestDatabase;
let results: TestResults;
let store: SegmentStore;

beforeAll(async () => {
  database = await testResults();
  // Frames are moved to the object store during these tests.
  results = await startResults({ SEGMENT_YOUNG_MS: '0', SEGMENT_INTERVAL_MS: '20' }, database);
  store = createSegmentStore(results.s3);
  const { frames, tasks } = results.service.consumers;
  await Promise.all([frames.joined, tasks.joined]);
});
afterAll(async () => {
  store.close();
  await results.stop();
  await database.drop();
});

interface Bucket {
  from_ms: number;
  covered_ms: number;
  frames: number;
  labels: { label: string; tracks_begun: number; objects_max: number; object_frames: number }[];
}

interface Timeline {
  bucket_ms: number;
  min_score: number;
  as_of_ms: number | null;
  coverage: { from_ms: number; to_ms: number; covered_ms: number; gaps: number };
  items: Bucket[];
  gaps: { from_ms: number; to_ms: number; reason: string }[];
}

async function timeline(taskId: string, query = ''): Promise<Timeline> {
  const response = await results.get(`/v1/vision/tasks/${taskId}/timeline${query}`);
  const body = (await response.json()) as Timeline;
  expect([response.status, body]).toEqual([200, body]);
  return body;
}

const newTask = async (facts: Parameters<typeof snapshot>[2] = {}, taskId = newTaskId()) => {
  await results.tell(snapshot(taskId, 'subject-a', facts));
  return taskId;
};

/** Folds all stored frames, as the background does five seconds after frames were stored. */
const fold = (taskId: string) => foldTask(foldDeps(database.db, store), taskId);

const seen = (trackId: string, score: number, label = 'person') => ({ ...object(score, label), track_id: trackId });

const SECOND = 1000;
const binOf = (score: number) => Math.min(19, Math.floor(Math.round(score * 1e6) / 50_000));
const floorTo = (ms: number, step: number) => Math.floor(ms / step) * step;

/** The buckets of a range, counted from the frames one by one. */
function bruteForce(
  frames: FrameData[],
  { fromMs, toMs, bucketMs, bin }: { fromMs: number; toMs: number; bucketMs: number; bin: number },
): Bucket[] {
  const tracks = new Map<string, { firstMs: number; frames: number; label: string; score: number }>();
  const buckets = new Map<number, { seconds: Set<number>; frames: number; labels: Map<string, number[]> }>();
  const inOrder = frames.toSorted((a, b) => a.frame_time_ms - b.frame_time_ms);
  for (const { frame_time_ms: ms, objects } of inOrder) {
    for (const { track_id: id, score, label } of objects) {
      const track = tracks.get(id) ?? { firstMs: ms, frames: 0, label, score };
      tracks.set(id, track);
      track.frames += 1;
      if (score > track.score) Object.assign(track, { score, label });
    }
    if (ms < fromMs || ms >= toMs) continue;
    const start = floorTo(ms, bucketMs);
    const bucket = buckets.get(start) ?? { seconds: new Set(), frames: 0, labels: new Map<string, number[]>() };
    buckets.set(start, bucket);
    bucket.frames += 1;
    bucket.seconds.add(Math.floor(ms / SECOND));
    for (const label of new Set(objects.map((one) => one.label))) {
      const count = objects.filter((one) => one.label === label && binOf(one.score) >= bin).length;
      if (count > 0) bucket.labels.set(label, [...(bucket.labels.get(label) ?? []), count]);
    }
  }
  const begun = (start: number, label: string) =>
    [...tracks.values()].filter(
      (track) =>
        floorTo(track.firstMs, bucketMs) === start &&
        track.label === label &&
        binOf(track.score) >= bin &&
        (track.frames > 1 || binOf(track.score) >= 16),
    ).length;
  return [...buckets]
    .sort(([a], [b]) => a - b)
    .map(([start, bucket]) => ({
      from_ms: start,
      covered_ms: SECOND * bucket.seconds.size,
      frames: bucket.frames,
      labels: ['__proto__', 'car', 'person']
        .map((label) => {
          const counts = bucket.labels.get(label) ?? [];
          return {
            label,
            tracks_begun: begun(start, label),
            objects_max: Math.max(0, ...counts),
            object_frames: counts.length,
          };
        })
        .filter((one) => one.tracks_begun > 0 || one.object_frames > 0),
    }));
}

const detection = fc.record({
  id: fc.constantFrom('a1-1', 'a1-2', 'a1-3', 'a2-1'),
  label: fc.constantFrom('person', 'car', '__proto__'),
  score: fc.constantFrom(0.05, 0.3, 0.499_999, 0.5, 0.75, 0.8, 0.849_9, 0.95, 1),
});
const steps = fc.array(
  fc.record({
    stepMs: fc.constantFrom(40, 200, 999, 2_999, 61_000, 700_000, 4_000_000),
    objects: fc.uniqueArray(detection, { maxLength: 4, selector: ({ id }) => id }),
    /** The delivery that has the frame, and the one that repeats it. */
    comesAt: fc.nat(3),
    againAt: fc.option(fc.nat(3)),
  }),
  { minLength: 1, maxLength: 40 },
);

test('the timeline is what its frames say, in any order and portions, folded or not', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.subarray([0, 1, 2, 3]), async (given, foldsAfter) => {
      const taskId = await newTask();
      let timeMs = -90_000;
      const frames = given.map(({ stepMs, objects, ...rest }, seq) => {
        timeMs += stepMs;
        const data = frame(taskId, seq, {
          frame_time_ms: timeMs,
          objects: objects.map(({ id, score, label }) => seen(id, score, label)),
        });
        return { data, ...rest };
      });
      for (const delivery of [0, 1, 2, 3]) {
        const batch = frames.filter(({ comesAt, againAt }) => comesAt === delivery || againAt === delivery);
        if (batch.length > 0) await results.deliver(batch.map(({ data }) => data));
        if (foldsAfter.includes(delivery)) await fold(taskId);
      }
      const all = frames.map(({ data }) => data);
      const [oldestMs, newestMs] = [all[0]?.frame_time_ms ?? 0, timeMs];
      const life = { from: floorTo(oldestMs, SECOND), to: floorTo(newestMs, SECOND) + SECOND };
      for (const [bucketMs, score] of [
        [60_000, 0],
        [900_000, 0.5],
        [3_600_000, undefined],
        [86_400_000, 0.95],
        [1_000, 0.3],
      ] as const) {
        // The last 2,500 seconds for buckets of a second.
        const fromMs = bucketMs === SECOND ? Math.max(life.from, life.to - 2_500_000) : floorTo(life.from, bucketMs);
        const scoreQuery = score === undefined ? '' : `&min_score=${score}`;
        const query = `?from_ms=${fromMs}&to_ms=${life.to}&bucket_ms=${bucketMs}${scoreQuery}`;
        const found = await timeline(taskId, query);
        const bin = binOf(score ?? 0.8);
        expect(found.items).toEqual(bruteForce(all, { fromMs, toMs: life.to, bucketMs, bin }));
        expect(found).toMatchObject({ bucket_ms: bucketMs, min_score: score ?? 0.8, as_of_ms: newestMs });
        const { coverage } = found;
        expect([coverage.from_ms, coverage.to_ms]).toEqual([Math.max(fromMs, life.from), life.to]);
        const inGaps = found.gaps.reduce((sum, gap) => sum + gap.to_ms - gap.from_ms, 0);
        expect(coverage.covered_ms + inGaps).toBe(coverage.to_ms - coverage.from_ms);
        expect(coverage.covered_ms).toBe(found.items.reduce((sum, item) => sum + item.covered_ms, 0));
      }
    }),
    { numRuns: 12 },
  );
});

test('counts seconds of frames that are in the object store', async () => {
  const taskId = await newTask();
  const all = Array.from({ length: 100 }, (_, seq) => frame(taskId, seq, { objects: [seen(`a1-${seq % 3}`, 0.9)] }));
  await results.deliver(all);
  await database
    .db('ingests')
    .where({ task_id: taskId })
    .update({ compact_at: database.db.raw('now()') });
  await until(async () => (await formsOf(database.db, taskId)).cold === 100);
  const { items } = await timeline(taskId, '?bucket_ms=1000&from_ms=3000&to_ms=9000');
  expect(items).toEqual(bruteForce(all, { fromMs: 3_000, toMs: 9_000, bucketMs: SECOND, bin: 16 }));
});

const HOUR = 3_600_000;
const reported = (taskId: string, n: number, facts: Partial<SourceChangedData>) =>
  database.db.transaction((tx) =>
    storeSource(
      { db: tx },
      { job_id: taskId, attempt: 1, n, at_ms: facts.since_ms ?? 0, since_ms: 0, state: 'streaming', ...facts },
    ),
  );

/** A stream of an hour that ended; a frame a second while it had any. */
async function stream(states: Partial<SourceChangedData>[], up: [fromS: number, toS: number][]) {
  const startMs = floorTo(Date.now(), HOUR) - HOUR;
  const ended = { status: 'stopped' as const, ended_at: new Date(startMs + HOUR).toISOString() };
  const taskId = await newTask({ kind: 'stream', ...ended }, taskIdAt(startMs));
  let seq = 0;
  const frames = up.flatMap(([fromS, toS]) =>
    Array.from({ length: toS - fromS }, (_, index) =>
      frame(taskId, seq++, { frame_time_ms: startMs + SECOND * (fromS + index), objects: [] }),
    ),
  );
  for (let at = 0; at < frames.length; at += 1_000) await results.deliver(frames.slice(at, at + 1_000));
  await fold(taskId);
  for (const [index, state] of states.entries())
    await reported(taskId, index + 1, { ...state, since_ms: startMs + (state.since_ms ?? 0) });
  const gapsOf = (found: Timeline) =>
    found.gaps.map((gap) => [(gap.from_ms - startMs) / SECOND, (gap.to_ms - startMs) / SECOND, gap.reason]);
  return { taskId, startMs, gapsOf };
}

test('distinguishes a camera that was unavailable from one in front of which nothing happened', async () => {
  const { taskId, startMs, gapsOf } = await stream(
    [
      { since_ms: 3_000, state: 'connecting' },
      { since_ms: 4_000 },
      { since_ms: 600_500, state: 'reconnecting', reason: 'connection_failed' },
      { since_ms: 899_500 },
      { since_ms: 1_199_000, state: 'stalled' },
      { since_ms: 1_229_500 },
    ],
    [
      [5, 600],
      [900, 1_200],
      [1_230, 3_600],
    ],
  );
  const found = await timeline(taskId, `?from_ms=${startMs}&to_ms=${startMs + HOUR}&bucket_ms=900000`);
  expect(gapsOf(found)).toEqual([
    [0, 5, 'not_started'],
    [600, 900, 'source_away'],
    [1_200, 1_230, 'source_silent'],
  ]);
  expect(found.coverage).toEqual({
    from_ms: startMs,
    to_ms: startMs + HOUR,
    covered_ms: HOUR - 335_000,
    gaps: 3,
  });
  expect(found.items.map(({ covered_ms: covered }) => covered / SECOND)).toEqual([595, 870, 900, 900]);
  const quarter = await timeline(taskId, `?from_ms=${startMs + 700_000}&to_ms=${startMs + 800_000}`);
  expect(quarter.items).toEqual([]);
  expect(gapsOf(quarter)).toEqual([[660, 840, 'source_away']]);
  const source = await results.get(`/v1/vision/tasks/${taskId}/source`);
  expect(await source.json()).toMatchObject({ coverage: found.coverage });
});

test('hours that the last release stored give the same timeline', async () => {
  const { taskId, startMs } = await stream(
    [{ since_ms: 3_000 }],
    [
      [5, 600],
      [900, 3_600],
    ],
  );
  const hour = `?from_ms=${startMs}&to_ms=${startMs + HOUR}`;
  const read = () => Promise.all([3_600_000, 60_000].map((ms) => timeline(taskId, `${hour}&bucket_ms=${ms}`)));
  const found = await read();
  expect(found[0]?.items).toMatchObject([{ from_ms: startMs, covered_ms: HOUR - 305_000, frames: 3_295 }]);
  expect(await makeOlder(database.db, taskId)).toBe(1);
  expect(await read()).toEqual(found);
});

test('a running stream has a gap until now, and none while its next frame is on its way', async () => {
  const startMs = Date.now() - 60_000;
  const taskId = await newTask({ kind: 'stream' }, taskIdAt(startMs));
  const at = (seq: number, ms: number) => frame(taskId, seq, { frame_time_ms: ms, objects: [] });
  await results.deliver([at(0, startMs + 100), at(1, startMs + 1_100)]);
  const cut = await timeline(taskId);
  expect(cut.coverage.to_ms).toBeGreaterThan(startMs + 50_000);
  expect(cut.gaps.at(-1)).toMatchObject({ to_ms: cut.coverage.to_ms, reason: 'unknown' });
  // Five seconds after a frame the next one is late.
  const [nowMs, live] = await until(async (): Promise<[number, Timeline] | undefined> => {
    const ms = Date.now();
    await results.deliver([at(2 + ms - startMs, ms)]);
    const found = await timeline(taskId);
    return Date.now() - ms < 4_000 ? [ms, found] : undefined;
  });
  expect(live.gaps.at(-1)?.to_ms).toBe(floorTo(nowMs, SECOND));
  expect(live.coverage.to_ms).toBe(floorTo(nowMs, SECOND) + SECOND);
});

test('a frame covers two periods of a source that is sampled slowly, and its tracks go on', async () => {
  const startMs = floorTo(Date.now(), SECOND) - 100_000;
  const taskId = await newTask({ kind: 'stream' }, taskIdAt(startMs));
  await reported(taskId, 1, { since_ms: startMs, sample_fps: 0.2 });
  const at = (seq: number, objects: FrameData['objects']) =>
    frame(taskId, seq, { frame_time_ms: startMs + 5_000 * seq, objects });
  const ids = async () => {
    const page = await results.get(`/v1/vision/tasks/${taskId}/tracks?order=changed`);
    const { items } = (await page.json()) as { items: { track_id: string; state: string; ended_by?: string }[] };
    return items.map(({ track_id: id, state, ended_by: by }) => [id, state, by]);
  };
  await results.deliver([at(0, [seen('a1-1', 0.9)]), at(1, [])]);
  await fold(taskId);
  expect(await ids()).toEqual([['a1-1', 'active', undefined]]);
  expect(await database.db('tracks').where({ task_id: taskId })).toEqual([]);
  await results.deliver([at(2, [seen('a1-1', 0.9)]), at(3, []), at(4, [])]);
  expect(await ids()).toEqual([['a1-1', 'ended', 'left']]);
  const found = await timeline(taskId, `?to_ms=${startMs + 90_000}`);
  expect(found.gaps[0]).toMatchObject({ from_ms: startMs + 30_000 });
});

test('a task without frames has an empty timeline', async () => {
  const upload = await timeline(await newTask());
  expect(upload).toMatchObject({ as_of_ms: null, coverage: { from_ms: 0, to_ms: 0 }, items: [], gaps: [] });
  const startMs = Date.now() - 60_000;
  const refused = { kind: 'stream', status: 'refunded', ended_at: new Date().toISOString() } as const;
  const stream = await timeline(await newTask(refused, taskIdAt(startMs)));
  expect(stream.gaps).toMatchObject([{ from_ms: floorTo(startMs, SECOND), reason: 'not_started' }]);
});

test('chooses a bucket, and counts seconds of a stream for ten minutes only', async () => {
  const { taskId, startMs } = await stream([], [[0, 1]]);
  expect((await timeline(taskId)).bucket_ms).toBe(60_000);
  const days = `?from_ms=${startMs - 86_400_000 * 20}&to_ms=${startMs}`;
  expect((await timeline(taskId, days)).bucket_ms).toBe(900_000);
  const seconds = (count: number) =>
    results.get(`/v1/vision/tasks/${taskId}/timeline?bucket_ms=1000&from_ms=0&to_ms=${SECOND * count}`);
  expect((await seconds(600)).status).toBe(200);
  expect(await (await seconds(601)).json()).toMatchObject({ details: { reason: 'too_many_buckets' } });
});

test.each([
  ['bucket_ms=59999', 'query_invalid'],
  ['bucket_ms=60000.0', 'query_invalid'],
  ['bucket_ms=60000&from_ms=0&to_ms=150060000', 'too_many_buckets'],
  ['bucket_ms=60000&from_ms=-1&to_ms=150000000', 'too_many_buckets'],
  ['bucket_ms=1000&from_ms=0&to_ms=2500001', 'too_many_buckets'],
  ['from_ms=-9007199254740991&to_ms=9007199254740991', 'too_many_buckets'],
  ['from_ms=5&to_ms=5', 'query_invalid'],
  ['from_ms=9007199254740993', 'query_invalid'],
  ['to_ms=1&to_ms=2', 'query_invalid'],
  ['min_score=0.51', 'query_invalid'],
  ['min_score=1', 'query_invalid'],
  ['labels=person', 'unknown_field'],
])('refuses %s', async (query, reason) => {
  const taskId = await newTask();
  await results.deliver([frame(taskId, 0), mark(taskId)]);
  const response = await results.get(`/v1/vision/tasks/${taskId}/timeline?${query}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ details: { reason } });
});

test('the longest range of the smallest bucket, and times far outside a task, are answered', async () => {
  const taskId = await newTask();
  await results.deliver([frame(taskId, 0)]);
  const most = await timeline(taskId, '?bucket_ms=60000&from_ms=0&to_ms=150000000');
  expect(most.items).toHaveLength(1);
  for (const query of ['?from_ms=9007199254740000', '?to_ms=-9007199254740000&bucket_ms=86400000'])
    expect((await timeline(taskId, query)).items).toEqual([]);
});

test('the timeline of another subject is not found', async () => {
  const taskId = await newTask();
  expect((await results.get(`/v1/vision/tasks/${taskId}/timeline`, 'subject-b')).status).toBe(404);
});
