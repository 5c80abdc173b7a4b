import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { trackSnapshotKey } from '@vision/contracts/track-snapshots';
import type { RuleAlarm } from '../src/domain/fold/evaluation.ts';
import type { EvaluatedView } from '../src/domain/task-view.ts';
import { announceAlarms } from '../src/use-cases/fold/announce-alarms.ts';
import { storeSnapshot } from '../src/use-cases/store/store-snapshot.ts';
import { alarmsOf, newSubject } from './alarm-world.ts';
import { newTaskId, object, testResults } from './support.ts';
import { together } from './together.ts';
import type { Step } from './together.ts';

let database: Awaited<ReturnType<typeof testResults>>;
beforeAll(async () => {
  database = await testResults();
});
afterAll(() => database.drop());

const TRACK = 'a1-1';

const opening = (): RuleAlarm => {
  const box = { cx: 0.5, cy: 0.5, width: 0.1, height: 0.2 };
  const seen = { label: 'person', trackId: TRACK, score: 900_000, ...box };
  const evidence = { frame: { seq: 5, timeMs: 1000 }, objects: [seen], count: 1, heldMs: 0 };
  const facts = { openedMs: 1000, suppressed: 0, labels: ['person'], countMax: 1, trackIds: [TRACK] };
  return { id: 'yard', version: 1, kind: 'object_present', alarm: { alarmId: randomUUID(), evidence, ...facts } };
};

const task = (): EvaluatedView => ({
  subject: newSubject(),
  kind: 'stream',
  status: 'running',
  defaultMinScore: 0.5,
  sceneCode: null,
  clientRef: null,
  snapshots: 'tracks',
  endedMs: null,
  endedForMs: null,
  hasAllFrames: false,
});

const image = (taskId: string) => ({
  job_id: taskId,
  attempt: 1,
  track_id: TRACK,
  n: 1,
  seq: 6,
  frame_time_ms: 1200,
  score: 0.9,
  bbox: object(0.9).bbox,
  object_key: trackSnapshotKey(`track-snapshots/of-${randomUUID()}/`, { taskId, trackId: TRACK }, '1x0') ?? '',
  width: 64,
  height: 128,
  bytes: 10,
});

test.each(['alarm', 'image'])(
  'an alarm and the image of its object that are stored at the same time find each other, the %s first',
  async (which) => {
    const taskId = newTaskId();
    const ofAlarm: Step = (tx) => announceAlarms(tx, taskId, { changes: [opening()], task: task(), nowMs: 2000 });
    const ofImage: Step = (tx) => storeSnapshot({ db: tx }, image(taskId));
    const [first, second] = which === 'alarm' ? [ofAlarm, ofImage] : [ofImage, ofAlarm];
    await together(database.db, first, second);
    expect((await alarmsOf(database.db, taskId)).at(-1)?.snapshot).toMatchObject({
      state: 'available',
      frame_time_ms: 1200,
    });
  },
);
