import { randomUUID } from 'node:crypto';
import { until } from '@vision/shared/testing/until';
import { madeVideo, results, video } from '../../support/video.ts';
import { form, scene } from '../../support/system.ts';
import type { Answer, Caller } from '../../support/system.ts';
import type { Attack, AttackGroup, Target } from '../attack.ts';
import { crowd } from '../crowd.ts';
import { finishedUpload } from '../finished-upload.ts';
import { invalid, NOT_FOUND, said } from '../say.ts';

interface Owned {
  owner: Caller;
  taskId: string;
  /** A cursor that works. */
  cursor: string;
}

let owned: Promise<Owned> | undefined;

/** A tenant with a finished task, for all attacks of this file. */
function victim(target: Target): Promise<Owned> {
  return target.prepared(() => (owned ??= makeVictim(target)));
}

async function makeVictim({ caller }: Target): Promise<Owned> {
  const owner = await caller();
  const bytes = await madeVideo('a.mp4', '-f', 'lavfi', '-i', 'testsrc2=d=1:s=320x240', '-c:v', 'libx264');
  const taskId = await finishedUpload(owner, bytes);
  const { next_cursor: cursor } = await results(owner, taskId, '?limit=2');
  return { owner, taskId, cursor };
}

/** Reads the victim's task with the victim's own key: only what is asked is wrong. */
const asked = (name: string, expected: string, queryOf: (owned: Owned) => string, path = '/results'): Attack => ({
  name,
  expected,
  attempt: async (target) => {
    const found = await victim(target);
    const place = path === '' ? '/v1/vision/tasks' : `/v1/vision/tasks/${found.taskId}${path}`;
    return said(await found.owner.get(`${place}?${queryOf(found)}`));
  },
});

const flipped = (cursor: string, at: number) =>
  cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1);
const BAD_CURSOR = invalid('cursor_invalid');
const BAD_QUERY = invalid('query_invalid');
const STREAM = '/results/stream';
const CROSSED = '0,0,1,1,1,0,0,1';
const NO_TASK = '404 task_not_found';

/** Reads the victim's log of events. */
const events = (name: string, expected: string, queryOf: (owned: Owned) => string, path = ''): Attack => ({
  name,
  expected,
  attempt: async (target) => {
    const found = await victim(target);
    return said(await found.owner.get(`/v1/vision/events${path}?${queryOf(found)}`));
  },
});

const log: Attack[] = [
  ...[
    'limit=0',
    'limit=501',
    'limit=1&limit=2',
    'order=changed',
    'types=',
    'types=task.running,,',
    'types=__proto__',
  ].map((query) => events(`events by ${query}`, BAD_QUERY, () => query)),
  events('events by 10,000 types', invalid('request_malformed'), () => `types=${Array(10_000).fill('a').join()}`),
  events('a cursor of results for events', BAD_CURSOR, ({ cursor }) => `cursor=${cursor}`),
  events('a cursor of events with a NUL', BAD_CURSOR, () => 'cursor=%00'),
  events('a stream of events with a limit', invalid('unknown_field'), () => 'limit=1', '/stream'),
  events('a stream of events from a made-up cursor', BAD_CURSOR, () => `cursor=${'A'.repeat(46)}`, '/stream'),
  {
    name: 'a cursor of the events of another',
    expected: BAD_CURSOR,
    attempt: async (target) => {
      const { owner } = await victim(target);
      const { body } = await owner.get('/v1/vision/events?limit=1');
      return said(await (await target.caller()).get(`/v1/vision/events?cursor=${String(body['resume_cursor'])}`));
    },
  },
];

const tracks: Attack[] = [
  asked('a cursor of results for tracks', BAD_CURSOR, ({ cursor }) => `cursor=${cursor}`, '/tracks'),
  ...[
    'limit=501',
    'order=best',
    'labels=',
    'labels=person,,car',
    `labels=${Array.from({ length: 33 }, () => 'a').join()}`,
    `labels=${'a'.repeat(101)}`,
    'labels=%00',
    'from_ms=2&to_ms=1',
    'from_ms=1&to_ms=1',
    'from_ms=9007199254740993',
    'from_ms=1e3',
    'min_score=1e999',
    'min_duration_ms=-1',
    'state=__proto__',
    'state=active&state=ended',
  ].map((query) => asked(`tracks by ${query.slice(0, 30)}`, BAD_QUERY, () => query, '/tracks')),
  asked('tracks by a parameter that is not listed', invalid('unknown_field'), () => 'colour=red', '/tracks'),
  asked('a track id of 10 KB', NOT_FOUND, () => '', `/tracks/${'a'.repeat(10_000)}`),
  asked('a track id with a slash', NOT_FOUND, () => '', '/tracks/a%2Fb'),
];

const TOO_MANY = invalid('too_many_buckets');
const timeline: Attack[] = [
  ...[
    'bucket_ms=59999',
    'bucket_ms=0',
    'bucket_ms=-60000',
    'bucket_ms=6e4',
    'bucket_ms=__proto__',
    'from_ms=2&to_ms=1',
    'from_ms=1&to_ms=1',
    'from_ms=9007199254740993',
    'to_ms=NaN',
    'min_score=0.51',
    'min_score=1',
    'min_score=1e999',
    'min_score=0.5&min_score=0.5',
  ].map((query) => asked(`a timeline by ${query}`, BAD_QUERY, () => query, '/timeline')),
  asked('a timeline by a parameter that is not listed', invalid('unknown_field'), () => 'labels=a', '/timeline'),
  ...[
    'bucket_ms=60000&from_ms=0&to_ms=150060000',
    'bucket_ms=1000&from_ms=0&to_ms=2500001',
    'from_ms=-9007199254740991&to_ms=9007199254740991',
  ].map((query) => asked(`a timeline by ${query.slice(0, 45)}`, TOO_MANY, () => query, '/timeline')),
];

export const cursors: AttackGroup = {
  title: 'Cursors and queries',
  wanted: 'results of other tasks, or a query the database has to fail at',
  withinMs: 30_000,
  atOnce: 8,
  attacks: [
    { ...asked('a cursor that was made up', BAD_CURSOR, () => 'cursor=garbage'), charged: 1 },
    asked('a cursor with its first character changed', BAD_CURSOR, ({ cursor }) => `cursor=${flipped(cursor, 0)}`),
    asked(
      'a cursor with its middle changed',
      BAD_CURSOR,
      ({ cursor }) => `cursor=${flipped(cursor, cursor.length >> 1)}`,
    ),
    asked('a cursor without its end', BAD_CURSOR, ({ cursor }) => `cursor=${cursor.slice(0, -4)}`),
    asked('a cursor with more behind it', BAD_CURSOR, ({ cursor }) => `cursor=${cursor}AAAA`),
    asked('two cursors joined', BAD_CURSOR, ({ cursor }) => `cursor=${cursor}${cursor}`),
    asked('a cursor twice', BAD_QUERY, ({ cursor }) => `cursor=${cursor}&cursor=${cursor}`),
    asked('a cursor of 8 KiB', BAD_CURSOR, () => `cursor=${'A'.repeat(8_000)}`),
    asked('a cursor with a NUL', BAD_CURSOR, () => 'cursor=%00'),
    asked('JSON for a cursor', BAD_CURSOR, () => `cursor=${Buffer.from('{"seq":0}').toString('base64url')}`),
    ...['', 'a%20b', '%00', "';--", 'a|b', '%C3%A4', '..%2F', 'a'.repeat(65), 'a&client_ref=b'].map((ref) =>
      asked(`the client_ref ${ref.slice(0, 20)}`, BAD_QUERY, () => `client_ref=${ref}`, ''),
    ),
    ...tracks,
    ...timeline,
    ...log,
    asked('SQL for a cursor', BAD_CURSOR, () => "cursor=' or 1=1 --"),
    asked('a cursor of results for the list', BAD_CURSOR, ({ cursor }) => `cursor=${cursor}`, ''),
    asked('no frames', BAD_QUERY, () => 'limit=0'),
    asked('a billion frames', BAD_QUERY, () => 'limit=1000000000'),
    asked('minus one frame', BAD_QUERY, () => 'limit=-1'),
    asked('frames in hexadecimal', BAD_QUERY, () => 'limit=0x10'),
    asked('a score that is no number', BAD_QUERY, () => 'min_score=NaN'),
    ...Object.entries({
      'two corners': '0,0,1,1',
      '17 corners': Array(34).fill('0.5').join(),
      'half a corner': '0,0,1,0,1',
      'a corner outside the image': '0,0,1.5,0,1,1',
      'a corner that is no number': '0,0,NaN,0,1,1',
      'an infinite corner': '0,0,1e999,0,1,1',
      'edges that cross': CROSSED,
      'no area': '0,0,0.5,0.5,1,1',
      'a doubled corner': '0,0,0,0,1,0,1,1',
    }).map(([name, region]) => asked(`a region with ${name}`, invalid('region_invalid'), () => `region=${region}`)),
    asked('a region twice', BAD_QUERY, () => 'region=0,0,1,0,1,1&region=0,0,1,0,1,1'),
    asked('an empty label', BAD_QUERY, () => 'labels=a,,b'),
    asked('33 labels', BAD_QUERY, () => `labels=${Array(33).fill('a').join()}`),
    asked('a label of 101 characters', BAD_QUERY, () => `labels=${'a'.repeat(101)}`),
    asked('a label with a NUL', BAD_QUERY, () => 'labels=a%00b'),
    asked('a track of 10 KB', BAD_QUERY, () => `track_id=${'a'.repeat(10_000)}`),
    asked('a track with a slash', BAD_QUERY, () => 'track_id=a%2Fb'),
    asked('a time range that ends before it begins', BAD_QUERY, () => 'from_ms=2&to_ms=1'),
    asked('a time range of no time', BAD_QUERY, () => 'from_ms=1&to_ms=1'),
    asked('a stream of a time range of no time', BAD_QUERY, () => 'from_ms=1&to_ms=1', STREAM),
    asked('a negative time, which an upload may have', '200', () => 'from_ms=-1'),
    asked('a time below -2^53', BAD_QUERY, () => 'from_ms=-9007199254740993'),
    asked('a time above 2^53', BAD_QUERY, () => 'to_ms=9007199254740993'),
    asked('skip_empty that is neither', BAD_QUERY, () => 'skip_empty=1'),
    asked('a stream with a limit', invalid('unknown_field'), () => 'limit=1', STREAM),
    asked(
      'a stream from a cursor that was changed',
      BAD_CURSOR,
      ({ cursor }) => `cursor=${flipped(cursor, 9)}`,
      STREAM,
    ),
    asked('a stream of a region that crosses itself', invalid('region_invalid'), () => `region=${CROSSED}`, STREAM),
    asked('a stream with an empty label', BAD_QUERY, () => 'labels=', STREAM),
    asked('the newest frame of an upload', invalid('not_a_stream'), () => '', '/live-snapshot'),
    asked(
      'an image of a track of another size',
      invalid('unknown_field'),
      () => 'width=99999',
      '/tracks/a1-1/snapshot',
    ),
    asked('a newest frame of another size', invalid('unknown_field'), () => 'width=99999', '/live-snapshot'),
    asked('an array of limits', invalid('unknown_field'), () => 'limit[]=1'),
    asked('a nested parameter', invalid('unknown_field'), () => 'limit[$gt]=1'),
    asked('a status that is a prototype', BAD_QUERY, () => 'status=__proto__', ''),
    asked('10,000 parameters', invalid('request_malformed'), () =>
      Array.from({ length: 10_000 }, () => 'a=1').join('&'),
    ),
    asked('2,000 parameters', invalid('unknown_field'), () => Array.from({ length: 2_000 }, () => 'a=1').join('&')),
  ],
};

/** Reads the victim's video with a header `Range`. */
const ranged = (name: string, expected: string, range: string): Attack => ({
  name,
  expected,
  attempt: async (target) => {
    const { owner, taskId } = await victim(target);
    const answer = await owner.send('GET', `/v1/vision/tasks/${taskId}/video`, { headers: { range } });
    if (answer.status >= 400) return said(answer);
    return `${answer.status} ${answer.headers.get('content-range') ?? 'the whole'}`;
  },
});

const NO_RANGE = '416 range_not_satisfiable';

export const ranges: AttackGroup = {
  title: 'Ranges of a video',
  wanted: 'memory, or bytes outside of the video',
  withinMs: 30_000,
  atOnce: 4,
  attacks: [
    ranged('two ranges', '200 the whole', 'bytes=0-0,2-2'),
    ranged('a thousand ranges', '200 the whole', `bytes=${Array.from({ length: 1_000 }, () => '0-').join()}`),
    ranged('a reversed range', '200 the whole', 'bytes=9-1'),
    ranged('a unit other than bytes', '200 the whole', 'furlongs=0-1'),
    ranged('a range beyond the end', NO_RANGE, 'bytes=99999999-'),
    ranged('a range beyond every number', NO_RANGE, `bytes=${'9'.repeat(400)}-`),
    ranged('the last no bytes', NO_RANGE, 'bytes=-0'),
    {
      name: 'a thousand downloads of the whole, 250 at once',
      expected: 'some answered, the others 429, and the video is whole afterwards',
      charged: 1,
      withinMs: 60_000,
      attempt: async (target) => {
        // A tenant of its own: this row fills every place for downloads, which the rows beside it need.
        const { owner, taskId } = await target.prepared(() => makeVictim(target));
        const read = () => owner.send('GET', `/v1/vision/tasks/${taskId}/video`, { headers: { range: 'bytes=0-' } });
        const statuses = new Set<number>();
        await crowd(target, async () => {
          for (let wave = 0; wave < 4; wave += 1) {
            const answers = await Promise.all(Array.from({ length: 250 }, read));
            answers.forEach(({ status }) => statuses.add(status));
          }
        });
        await until(async () => (await read()).status === 206);
        const isExpected = statuses.has(206) && [...statuses].every((status) => [206, 429].includes(status));
        return isExpected
          ? 'some answered, the others 429, and the video is whole afterwards'
          : `statuses ${[...statuses].join()}`;
      },
    },
  ],
};

/** A problem document without what differs from request to request. */
const essence = ({ status, body }: Answer): string => {
  const { instance: _instance, trace_id: _trace, ...rest } = body;
  return JSON.stringify([status, rest]);
};

const backtest = (caller: Caller, id: string): Promise<Answer> =>
  caller.send('POST', '/v1/vision/alarm-backtests', {
    body: JSON.stringify({ task_id: id, from_ms: 0, to_ms: 60_000, when: { kind: 'source_down' } }),
    headers: { 'content-type': 'application/json' },
  });

const routes: [string, (caller: Caller, id: string) => Promise<Answer>][] = [
  ['read', (caller, id) => caller.get(`/v1/vision/tasks/${id}`)],
  ['video', (caller, id) => caller.get(`/v1/vision/tasks/${id}/video`)],
  ['live snapshot', (caller, id) => caller.get(`/v1/vision/tasks/${id}/live-snapshot`)],
  ['tracks', (caller, id) => caller.get(`/v1/vision/tasks/${id}/tracks`)],
  ['timeline', (caller, id) => caller.get(`/v1/vision/tasks/${id}/timeline`)],
  ['track', (caller, id) => caller.get(`/v1/vision/tasks/${id}/tracks/a1-1`)],
  ['image of a track', (caller, id) => caller.get(`/v1/vision/tasks/${id}/tracks/a1-1/snapshot`)],
  ['results', (caller, id) => caller.get(`/v1/vision/tasks/${id}/results`)],
  ['result stream', (caller, id) => caller.get(`/v1/vision/tasks/${id}/results/stream`)],
  ['source', (caller, id) => caller.get(`/v1/vision/tasks/${id}/source`)],
  ['backtest', backtest],
  ['stop', (caller, id) => caller.stop(id)],
  ['delete', (caller, id) => caller.send('DELETE', `/v1/vision/tasks/${id}`)],
];

const oddIds: [string, string][] = [
  ['SQL', "1'%20or%20'1'='1"],
  ['a star', '*'],
  ['10 KiB', 'a'.repeat(10_000)],
  ['dots', '..'],
  ['a line break', '%0d%0aX-A:%201'],
];

export const tenants: AttackGroup = {
  title: 'Tasks of others',
  wanted: 'to see, to stop or to learn of a task of another tenant',
  withinMs: 30_000,
  atOnce: 8,
  attacks: [
    ...routes.map(([name, ask]): Attack => ({
      name: `${name}: a task of another tenant, compared with one that never was`,
      expected: `${NO_TASK}, the same in every byte`,
      attempt: async (target) => {
        const { taskId } = await victim(target);
        const stranger = await target.caller();
        const [foreign, never] = [await ask(stranger, taskId), await ask(stranger, randomUUID())];
        return `${said(foreign)}, ${essence(foreign) === essence(never) ? 'the same in every byte' : 'different'}`;
      },
    })),
    {
      name: 'a cursor of another tenant for the same task',
      expected: NO_TASK,
      attempt: async (target) => {
        const { taskId, cursor } = await victim(target);
        return said(await (await target.caller()).get(`/v1/vision/tasks/${taskId}/results?cursor=${cursor}`));
      },
    },
    {
      name: 'a cursor of another task of one’s own',
      expected: BAD_CURSOR,
      attempt: async (target) => {
        const { owner, cursor } = await victim(target);
        const bytes = await madeVideo('b.mp4', '-f', 'lavfi', '-i', 'testsrc=d=1:s=320x240', '-c:v', 'libx264');
        const { body } = await owner.createUpload(form(video(bytes), scene('person_vehicle')));
        return said(await owner.get(`/v1/vision/tasks/${String(body['task_id'])}/results?cursor=${cursor}`));
      },
    },
    {
      name: 'the list of tasks of a subject without any',
      expected: '0 tasks',
      attempt: async (target) => {
        await victim(target);
        const { body } = await (await target.caller()).get('/v1/vision/tasks');
        return `${(body['items'] as unknown[]).length} tasks`;
      },
    },
    ...oddIds.map(([name, id]): Attack => ({
      name: `an id that is none: ${name}`,
      expected: NOT_FOUND,
      attempt: async (target) => said(await (await target.caller()).get(`/v1/vision/tasks/${id}`)),
    })),
  ],
};
