import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { FrameData } from '@vision/contracts/frame-events';
import { createGate } from '@vision/shared/async/gate';
import { inTransaction } from '@vision/shared/db/transaction';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { saveTaskView } from '../src/db/task-views.ts';
import { cursorCodec } from '../src/domain/cursor.ts';
import { parseResultQuery } from '../src/domain/result-query.ts';
import { parseTimelineQuery } from '../src/domain/timeline-query.ts';
import { parseTrackQuery } from '../src/domain/track-query.ts';
import { createAlarmBacktest } from '../src/use-cases/fold/create-alarm-backtest.ts';
import { foldTask } from '../src/use-cases/fold/fold-task.ts';
import { getResults } from '../src/use-cases/read/get-results.ts';
import { getTimeline } from '../src/use-cases/read/get-timeline.ts';
import { listTracks } from '../src/use-cases/read/list-tracks.ts';
import { storeFrames } from '../src/use-cases/store/store-frames.ts';
import { closedStore, CURSOR_KEY, readDeps } from './fold-deps.ts';
import { turnIntoRows } from './rows.ts';
import { formsOf, frame, newTaskId, object, snapshot, testResults } from './support.ts';
import type { Page } from './support.ts';

/** Reads take at most 1000 rows at once, so the rows of a task need more than one read. */
const ROWS = 1_200;
/** As many as a reader of tracks reads in addition to folded ones. */
const FRAMES = 2_000;
const LATE = 300;
const PAGE = 500;

let database: TestDatabase;
const store = closedStore();
beforeAll(async () => {
  database = await testResults();
});
afterAll(async () => {
  store.close();
  await database.drop();
});

const deps = () => ({
  ...readDeps(database.db, store),
  backtests: createGate({ concurrency: 1 }),
  cursors: cursorCodec([CURSOR_KEY]),
});

/** Five frames a second; a person is visible in half of every ten seconds, each time another one. */
function sceneAt(taskId: string, seq: number): FrameData {
  const person = { ...object(0.9), track_id: `a1-${Math.floor(seq / 50)}` };
  return frame(taskId, seq, { objects: seq % 50 < 25 ? [person] : [] });
}

interface Kept {
  taskId: string;
  isMixed: boolean;
}

/** Stores these frames; the first half of a mixed task as release 0.3 did. */
async function keep({ taskId, isMixed }: Kept, seqs: number[]): Promise<void> {
  const messages = seqs.map((seq) => ({ kind: 'frame' as const, data: sceneAt(taskId, seq) }));
  await storeFrames(deps(), messages, (work) => inTransaction(database.db, work));
  if (isMixed && seqs.every((seq) => seq < ROWS)) await turnIntoRows(database.db, taskId);
}

const span = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);

/** A task of which a frame of the first page arrives after a reader has read that page, and then all that follow. */
async function newTask(isMixed: boolean) {
  const kept = { taskId: newTaskId(), isMixed };
  await saveTaskView(database.db, snapshot(kept.taskId, 'subject-a'));
  await keep(
    kept,
    span(0, ROWS).filter((seq) => seq !== LATE),
  );
  const before = await read(kept.taskId, { limit: PAGE });
  await keep(kept, [LATE]);
  await keep(kept, span(ROWS, FRAMES));
  const forms = isMixed ? { rows: ROWS, hot: FRAMES - ROWS, cold: 0 } : { rows: 0, hot: FRAMES, cold: 0 };
  expect(await formsOf(database.db, kept.taskId)).toEqual(forms);
  return { taskId: kept.taskId, before };
}

const bothForms = async () => ({ mixed: await newTask(true), whole: await newTask(false) });

async function read(taskId: string, query: Record<string, string | number>): Promise<Page & { next_cursor: string }> {
  const texts = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
  const text = await getResults(deps(), { subject: 'subject-a', taskId, query: parseResultQuery(texts) });
  return JSON.parse(text.toString().replaceAll(taskId, 'task')) as Page & { next_cursor: string };
}

/** Every page after the cursor. */
async function readOn(taskId: string, query: Record<string, string | number>): Promise<Page['items'][]> {
  const pages: Page['items'][] = [];
  let cursor: string | undefined;
  do {
    const page = await read(taskId, { limit: PAGE, ...query, ...(cursor === undefined ? {} : { cursor }) });
    pages.push(page.items);
    cursor = page.next_cursor;
  } while (cursor !== '');
  return pages;
}

const seqsOf = (pages: Page['items'][]) => pages.flat().map(({ frame_id: id }) => Number(id.slice('task-'.length)));

test('pages go on from rows to segments, and bring a late row to a reader that is past it', async () => {
  const { mixed, whole } = await bothForms();
  expect(mixed.before.items).toEqual(whole.before.items);
  const follow = ({ taskId, before }: typeof mixed) => readOn(taskId, { cursor: before.resume_cursor });
  const following = await follow(mixed);
  expect(following).toEqual(await follow(whole));
  // The first page ended with frame 500, as the late one was missing.
  expect(seqsOf(following)).toEqual([LATE, ...span(PAGE + 1, FRAMES)]);
  const again = await readOn(mixed.taskId, {});
  expect(again).toEqual(await readOn(whole.taskId, {}));
  expect(seqsOf(again)).toEqual(span(0, FRAMES));
});

test('frames of a time are found among rows and segments', async () => {
  const { mixed, whole } = await bothForms();
  const times = { from_ms: 200 * (LATE - 50), to_ms: 200 * 1_500 };
  const found = await readOn(mixed.taskId, times);
  expect(found).toEqual(await readOn(whole.taskId, times));
  expect(seqsOf(found)).toEqual(span(LATE - 50, 1_500));
  const search = { ...times, skip_empty: 'true', labels: 'person' };
  const people = await readOn(mixed.taskId, search);
  expect(seqsOf(people)).toEqual(span(LATE - 50, 1_500).filter((seq) => seq % 50 < 25));
  expect(people.flat()).toEqual((await readOn(whole.taskId, search)).flat());
});

test('a backtest of a rule evaluates rows and segments', async () => {
  const { mixed, whole } = await bothForms();
  const when = {
    kind: 'object_present' as const,
    labels: ['person'],
    anchor: 'bottom_center' as const,
    min_score: 0.8,
    min_count: 1,
    for_ms: 0,
    clear_ms: 1_000,
  };
  const evaluate = (taskId: string) =>
    createAlarmBacktest(deps(), {
      subject: 'subject-a',
      taskId,
      rule: { when, minIntervalMs: 0, schedule: undefined },
      times: { fromMs: 0, toMs: 3_600_000 },
      signal: new AbortController().signal,
    });
  const { alarms, ...report } = await evaluate(mixed.taskId);
  expect(report).toMatchObject({ framesRead: FRAMES, coverage: 1, suppressed: 0 });
  expect(alarms.map(({ openedMs }) => openedMs)).toEqual(span(0, FRAMES / 50).map((visit) => visit * 10_000));
  const { alarms: expected, ...rest } = await evaluate(whole.taskId);
  // The id of an alarm depends on that of its task.
  const facts = (list: typeof alarms) => list.map((alarm) => ({ ...alarm, alarmId: '' }));
  expect([facts(alarms), report]).toEqual([facts(expected), rest]);
});

test.each([
  ['before they are folded', false],
  ['when they are folded', true],
])('tracks and the timeline count rows and segments %s', async (_when, isFolded) => {
  const { mixed, whole } = await bothForms();
  const watched = async (taskId: string) => {
    if (isFolded) await foldTask(deps(), taskId);
    const asked = { subject: 'subject-a', taskId };
    const { signal } = new AbortController();
    const { items } = await listTracks(deps(), { ...asked, query: parseTrackQuery({}) });
    const timeline = await getTimeline(deps(), { ...asked, query: parseTimelineQuery({}), signal });
    return { tracks: items, timeline };
  };
  const { tracks, timeline } = await watched(mixed.taskId);
  expect(tracks.map(({ trackId, frames }) => [trackId, frames])).toEqual(
    span(0, FRAMES / 50).map((visit) => [`a1-${visit}`, 25]),
  );
  expect({ tracks, timeline }).toEqual(await watched(whole.taskId));
});
