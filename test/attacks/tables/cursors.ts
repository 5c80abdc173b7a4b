import { join } from 'node:path';
import { until } from '@vision/shared/testing/until';
import { startLiveSource } from '../../../examples/live-source.ts';
import { example, examples, form, jpeg } from '../../support/system.ts';
import type { Caller } from '../../support/system.ts';
import type { Attack, AttackGroup, Target } from '../attack.ts';
import { finishedUpload } from '../finished-upload.ts';
import { each, invalid, said } from '../say.ts';

const BAD_CURSOR = invalid('cursor_invalid');

/** A cursor that works for a path, and another path of the same owner where it must not. */
interface Issued {
  owner: Caller;
  path: string;
  other: string;
  cursor: string;
}

const flipped = (cursor: string) => {
  const at = cursor.length >> 1;
  return cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1);
};

/** Asks with a cursor with one bit changed, with one of another task, and as another subject. */
const three = (what: string, charged: number, issue: (target: Target) => Promise<Issued>): Attack => ({
  name: `a cursor of ${what}: changed, and for another task`,
  expected: BAD_CURSOR,
  charged,
  attempt: async (target) => {
    const { owner, path, other, cursor } = await issue(target);
    const works = await owner.get(`${path}&cursor=${cursor}`);
    if (works.status !== 200) return `the cursor itself: ${said(works)}`;
    const answers = [
      await owner.get(`${path}&cursor=${flipped(cursor)}`),
      await owner.get(`${other}&cursor=${cursor}`),
    ];
    return each(answers.map(said));
  },
});

const pathOf = (taskId: string, view: string) => `/v1/vision/tasks/${taskId}/${view}?limit=1`;
const cursorOf = async (owner: Caller, path: string) =>
  (await owner.get(path)).body['next_cursor'] as string | undefined;

const uploaded = async (owner: Caller) => finishedUpload(owner, await example('street.mp4'));

async function ofTracks({ caller, prepared }: Target): Promise<Issued> {
  const owner = await caller();
  const [task, another] = await prepared(() => Promise.all([uploaded(owner), uploaded(owner)]));
  const path = pathOf(task, 'tracks');
  const cursor = await until(async () => cursorOf(owner, path));
  return { owner, path, other: pathOf(another, 'tracks'), cursor };
}

async function ofSource({ caller, prepared, atEnd }: Target): Promise<Issued> {
  const [owner, camera] = [await caller(), await startLiveSource({ video: join(examples, 'street.mp4') })];
  atEnd(camera.close);
  const { body } = await owner.createStream({ scene_code: 'person_vehicle', stream_url: camera.url });
  const taskId = String(body['task_id']);
  atEnd(() => owner.stop(taskId));
  const [path, other] = [taskId, await prepared(() => uploaded(owner))].map((id) => pathOf(id, 'source'));
  return { owner, path: path ?? '', other: other ?? '', cursor: await until(async () => cursorOf(owner, path ?? '')) };
}

/** The id of an event of a stream of results. */
async function eventOf(owner: Caller, taskId: string): Promise<string> {
  const { text } = await owner.get(`/v1/vision/tasks/${taskId}/results/stream`);
  return /^id: (.+)$/m.exec(text)?.[1] ?? '';
}

const LIST = '/v1/vision/tasks?limit=1';

export const issuedCursors: AttackGroup = {
  title: 'Cursors that were issued for something else',
  wanted: 'data of another task or tenant, or a cursor that the service did not issue',
  withinMs: 180_000,
  atOnce: 2,
  isPatient: true,
  attacks: [
    three('tracks', 2, ofTracks),
    three('a source', 2, ofSource),
    {
      name: 'a cursor of the list of tasks: changed, and for another subject',
      expected: BAD_CURSOR,
      charged: 2,
      attempt: async ({ caller }) => {
        const [owner, other, picture] = [await caller(), await caller(), jpeg(await example('street.jpg'))];
        for (let call = 0; call < 2; call += 1) await owner.detect(form(picture));
        const cursor = await until(async () => cursorOf(owner, LIST));
        const answers = [
          await owner.get(`${LIST}&cursor=${flipped(cursor)}`),
          await other.get(`${LIST}&cursor=${cursor}`),
        ];
        return each(answers.map(said));
      },
    },
    {
      name: 'Last-Event-ID: changed, of another task, and of a task of another',
      expected: BAD_CURSOR,
      charged: 3,
      attempt: async ({ caller, prepared }) => {
        const [owner, other] = [await caller(), await caller()];
        const [task, another, foreign] = await prepared(() =>
          Promise.all([uploaded(owner), uploaded(owner), uploaded(other)]),
        );
        const id = await eventOf(owner, task);
        const ids = [flipped(id), await eventOf(owner, another), await eventOf(other, foreign)];
        const path = `/v1/vision/tasks/${task}/results/stream`;
        const works = await owner.send('GET', path, { headers: { 'last-event-id': id } });
        if (works.status !== 200) return `the id itself: ${said(works)}`;
        const answers = ids.map((one) => owner.send('GET', path, { headers: { 'last-event-id': one } }));
        return each((await Promise.all(answers)).map(said));
      },
    },
  ],
};
