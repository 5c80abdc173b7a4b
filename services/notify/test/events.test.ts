import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inTransaction } from '@vision/shared/db/transaction';
import { until } from '@vision/shared/testing/until';
import { appendToLog } from '../src/db/event-log.ts';
import { eventIdOf } from '../src/domain/event.ts';
import { eventCursorCodec } from '../src/domain/cursor.ts';
import { startNotify, task } from './support.ts';
import type { TestNotify } from './support.ts';

let notify: TestNotify;
beforeAll(async () => {
  notify = await startNotify();
});
afterAll(() => notify.stop());

const newSubject = () => `subject-${randomUUID()}`;
/** Versions of one task, one for each status. */
const lifeOf = (subject: string, ...statuses: ReturnType<typeof task>['status'][]) => {
  const task_id = randomUUID();
  return statuses.map((status, index) => task({ task_id, subject, status, version: index + 1 }));
};
const typesOf = ({ items }: { items: { type: string }[] }) => items.map(({ type }) => type);
const numbersOf = ({ items }: { items: { sequence: number }[] }) => items.map(({ sequence }) => sequence);
const sorted = (numbers: number[]) => [...new Set(numbers)].toSorted((a, b) => a - b);

test('logs each new state of a task once, also when states come again or late', async () => {
  const subject = newSubject();
  const versions = lifeOf(subject, 'submitting', 'running', 'running', 'stopping', 'stopped');
  await notify.tell(...versions);
  const before = await notify.page('', subject);
  expect(typesOf(before)).toEqual(['task.running', 'task.stopped']);
  expect(numbersOf(before)).toEqual(sorted(numbersOf(before)));
  await notify.tell(...versions, ...versions.toReversed());
  expect(await notify.page('', subject)).toEqual(before);
});

test('an event holds the task as callers see it, its client_ref and a reason that names no host', async () => {
  const subject = newSubject();
  const [running = task(), failed = task()] = lifeOf(subject, 'running', 'failed');
  await notify.tell({ ...running, client_ref: 'gate-3' }, { ...failed, client_ref: 'gate-3', reason: 'timeout' });
  const { items } = await notify.page('', subject);
  const { task_id, request_id, scene_code, result_expires_at, created_at, updated_at } = failed;
  expect(items[1]).toEqual({
    event_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/),
    type: 'task.failed',
    timestamp: updated_at,
    sequence: expect.any(Number),
    data: {
      task: { task_id, request_id, scene_code, status: 'failed', result_expires_at, created_at, updated_at },
      client_ref: 'gate-3',
      reason: 'unreachable',
    },
  });
});

test('logs no event of a creation that was rolled back, and one of a visible task that was refunded', async () => {
  const subject = newSubject();
  const [undone, refunded] = [task({ subject, status: 'refunded' }), task({ subject, status: 'refunded' })];
  await notify.tell({ ...undone, keeps_key: false }, { ...refunded, reason: 'job_failed' });
  const { items } = await notify.page('', subject);
  expect(items.map(({ type, data }) => [type, data.task.task_id, data.reason])).toEqual([
    ['task.refunded', refunded.task_id, 'service_fault'],
  ]);
});

test('pages go on where the last one ended, and resume_cursor has everything later and nothing twice', async () => {
  const subject = newSubject();
  await notify.tell(...Array.from({ length: 5 }, () => task({ subject })));
  const first = await notify.page('?limit=2', subject);
  const second = await notify.page(`?limit=2&cursor=${first.next_cursor}`, subject);
  const third = await notify.page(`?limit=2&cursor=${second.next_cursor}`, subject);
  const all = [first, second, third].flatMap(numbersOf);
  expect([all, third.next_cursor]).toEqual([numbersOf(await notify.page('', subject)), '']);
  expect([all.length, all]).toEqual([5, sorted(all)]);
  expect(await notify.page(`?cursor=${third.resume_cursor}`, subject)).toMatchObject({ items: [], next_cursor: '' });
  await notify.tell(...lifeOf(subject, 'running', 'succeeded'));
  const resumed = await notify.page(`?cursor=${third.resume_cursor}`, subject);
  expect(typesOf(resumed)).toEqual(['task.running', 'task.succeeded']);
  expect((await notify.page(`?limit=2&cursor=${first.resume_cursor}`, subject)).items).toEqual(second.items);
});

test('backwards, pages end at the oldest event and resume with what was logged since the first', async () => {
  const subject = newSubject();
  await notify.tell(...Array.from({ length: 3 }, () => task({ subject })));
  const all = numbersOf(await notify.page('', subject));
  const first = await notify.page('?order=newest&limit=2', subject);
  await notify.tell(task({ subject, status: 'resolving' }));
  const second = await notify.page(`?order=newest&limit=2&cursor=${first.next_cursor}`, subject);
  expect([first, second].flatMap(numbersOf)).toEqual(all.toReversed());
  for (const { resume_cursor: cursor } of [first, second])
    expect(typesOf(await notify.page(`?cursor=${cursor}`, subject))).toEqual(['task.resolving']);
});

test('types filter any page, and a resume_cursor passes over what they leave out', async () => {
  const subject = newSubject();
  await notify.tell(...lifeOf(subject, 'running', 'resolving', 'running', 'failed'));
  const page = await notify.page('?types=task.failed,task.resolving&limit=1', subject);
  expect(typesOf(page)).toEqual(['task.resolving']);
  expect(typesOf(await notify.page(`?types=task.failed&cursor=${page.next_cursor}`, subject))).toEqual(['task.failed']);
  const none = await notify.page('?types=task.refunded', subject);
  expect(none.items).toEqual([]);
  expect((await notify.page(`?cursor=${none.resume_cursor}`, subject)).items).toEqual([]);
  expect(typesOf(await notify.page('?types=task.running&order=newest', subject))).toHaveLength(2);
});

test('subjects see their own events only, and no cursor of another', async () => {
  const [mine, other] = [newSubject(), newSubject()];
  await notify.tell(task({ subject: mine }));
  const { resume_cursor: cursor } = await notify.page('', mine);
  expect((await notify.page('', other)).items).toEqual([]);
  const answer = await notify.call('GET', `/v1/vision/events?cursor=${cursor}`, other);
  expect([answer.status, await answer.json()]).toMatchObject([400, { details: { reason: 'cursor_invalid' } }]);
});

test.each([
  ['limit=0', 'query_invalid', 'limit'],
  ['limit=501', 'query_invalid', 'limit'],
  ['limit=1e2', 'query_invalid', 'limit'],
  ['limit=1&limit=2', 'query_invalid', 'limit'],
  ['types=', 'query_invalid', 'types'],
  ['types=task.running,', 'query_invalid', 'types'],
  ['types=task.paused', 'query_invalid', 'types'],
  ['types[]=task.running', 'unknown_field', 'types[]'],
  ['order=changed', 'query_invalid', 'order'],
  ['colour=red', 'unknown_field', 'colour'],
  ['cursor=garbage', 'cursor_invalid', 'cursor'],
  [`cursor=${'A'.repeat(46)}`, 'cursor_invalid', 'cursor'],
])('%s is refused', async (query, reason, field) => {
  const answer = await notify.call('GET', `/v1/vision/events?${query}`);
  expect([answer.status, await answer.json()]).toMatchObject([400, { details: { reason, field } }]);
});

test('a cursor fits no other order', async () => {
  const subject = newSubject();
  await notify.tell(task({ subject }), task({ subject }));
  const { next_cursor: cursor } = await notify.page('?limit=1', subject);
  const answer = await notify.call('GET', `/v1/vision/events?order=newest&cursor=${cursor}`, subject);
  expect([answer.status, await answer.json()]).toMatchObject([400, { details: { reason: 'cursor_invalid' } }]);
});

test('readers see events in the order of their numbers while others are written', async () => {
  const subject = newSubject();
  const { db } = notify.database;
  const append = (tx: Parameters<typeof appendToLog>[0]) => {
    const occurredAt = new Date();
    const eventId = eventIdOf(occurredAt, randomUUID());
    return appendToLog(tx, { eventId, subject, type: 'task.running', taskId: randomUUID(), occurredAt, data: '{}' });
  };
  const heads = async () => {
    const rows = await db('events').where({ subject }).orderBy('position').select<{ position: number }[]>('position');
    return rows.map(({ position }) => position);
  };
  const seen: number[][] = [];
  const writing = new AbortController();
  const reader = (async () => {
    while (!writing.signal.aborted) seen.push(await heads());
  })();
  await Promise.all(Array.from({ length: 40 }, () => inTransaction(db, append)));
  writing.abort();
  await reader;
  seen.push(await heads());
  const all = seen.at(-1) ?? [];
  expect([all.length, all]).toEqual([40, sorted(all)]);
  for (const positions of seen) expect(positions).toEqual(all.slice(0, positions.length));
});

test('a log that was restored reports missing events and continues at its end, with the same event_id for the same event', async () => {
  const subject = newSubject();
  const { db } = notify.database;
  const [running = task(), ended = task()] = lifeOf(subject, 'running', 'succeeded');
  await notify.tell(running, ended);
  const before = await notify.page('', subject);
  await setBack(subject);
  await db('task_states').where({ task_id: ended.task_id }).update({ version: 1, status: 'running' });
  const reset = await notify.page(`?cursor=${before.resume_cursor}`, subject);
  const [first = 0, lost = 0] = numbersOf(before);
  const missed = { type: 'events.missed', sequence: first, data: { first_sequence: first + 1, last_sequence: lost } };
  expect(reset.items).toEqual([expect.objectContaining(missed)]);
  expect((await notify.page(`?cursor=${before.resume_cursor}`, subject)).items).toEqual(reset.items);
  const stream = await notify.open(`?cursor=${before.resume_cursor}`, {}, subject);
  await until(() => stream.events.length === 1);
  expect(stream.events[0]?.data).toEqual(reset.items[0]);
  stream.close();
  expect((await notify.page(`?cursor=${stream.events[0]?.id}`, subject)).items).toEqual([]);
  await notify.tell(ended);
  const again = await notify.page(`?cursor=${reset.resume_cursor}`, subject);
  expect(again.items).toEqual(before.items.slice(1).map((item) => ({ ...item, sequence: expect.any(Number) })));
});

/** Restores an older copy of the database: the last event is missing. */
async function setBack(subject: string): Promise<void> {
  const { db } = notify.database;
  const [first = 0, last = 0] = numbersOf(await notify.page('', subject));
  await db('events').where({ subject, position: last }).delete();
  await db('subject_logs').where({ subject }).update({ position: first });
}

test('a reader of a log that was set back and has gone on since learns of it, by pages and by the stream', async () => {
  const subject = newSubject();
  await notify.tell(task({ subject }), task({ subject }));
  const before = await notify.page('', subject);
  await setBack(subject);
  await notify.tell(task({ subject }));
  const [first = 0, lost = 0] = numbersOf(before);
  const missed = { type: 'events.missed', data: { first_sequence: first + 1, last_sequence: lost } };
  const resumed = await notify.page(`?cursor=${before.resume_cursor}`, subject);
  expect(resumed.items).toMatchObject([missed, { type: 'task.running' }]);
  const one = await notify.page(`?cursor=${before.resume_cursor}&limit=1`, subject);
  expect(one.items).toEqual(resumed.items.slice(0, 1));
  expect((await notify.page(`?cursor=${one.next_cursor}`, subject)).items).toEqual(resumed.items.slice(1));
  const stream = await notify.open(`?cursor=${before.resume_cursor}`, {}, subject);
  await until(() => stream.events.length === 2);
  expect(stream.events.map(({ data }) => data)).toEqual(resumed.items);
  stream.close();
  expect((await notify.page(`?cursor=${resumed.resume_cursor}`, subject)).items).toEqual([]);
  // A cursor of an earlier release does not record whether there was an event.
  const codec = eventCursorCodec(['a-secret-of-thirty-two-characters']);
  const old = codec.encode(subject, { order: 'oldest', position: lost, head: lost });
  expect((await notify.page(`?cursor=${old}`, subject)).items).toEqual(resumed.items.slice(1));
});

test('a number that a log lost is not assigned to another event, so a cursor after it misses none', async () => {
  const subject = newSubject();
  await notify.tell(task({ subject }), task({ subject }));
  const before = await notify.page('', subject);
  await setBack(subject);
  const other = task({ subject });
  await notify.tell(other);
  const { items } = await notify.page(`?cursor=${before.resume_cursor}`, subject);
  expect(items.at(-1)?.data.task.task_id).toBe(other.task_id);
  expect(numbersOf(before)).not.toContain(items.at(-1)?.sequence);
});

test('a log that was numbered from 1 goes on behind its last number', async () => {
  const subject = newSubject();
  const { db } = notify.database;
  await notify.tell(task({ subject }));
  await db('events').where({ subject }).update({ position: 1 });
  await db('subject_logs').where({ subject }).update({ position: 1 });
  const { resume_cursor: cursor, items: old } = await notify.page('', subject);
  await notify.tell(task({ subject }), task({ subject }));
  const later = numbersOf(await notify.page(`?cursor=${cursor}`, subject));
  expect([numbersOf({ items: old }), later.length, later]).toEqual([[1], 2, sorted(later)]);
});

test('retention removes expired events and keeps the position of cursors', async () => {
  const subject = newSubject();
  await notify.tell(...lifeOf(subject, 'running', 'failed'));
  const { resume_cursor: cursor, items } = await notify.page('', subject);
  await age(subject, items[0]?.sequence);
  const answer = await notify.call('POST', '/internal/v1/retention/run');
  const removed = { events: 1, alarms: 0, rules: 0, tasks: 0, deliveries: 0 };
  expect([answer.status, await answer.json()]).toEqual([200, removed]);
  expect(typesOf(await notify.page('', subject))).toEqual(['task.failed']);
  await notify.tell(task({ subject }));
  expect(typesOf(await notify.page(`?cursor=${cursor}`, subject))).toEqual(['task.running']);
});

/** Makes an event older than the retention. */
async function age(subject: string, position: number | undefined): Promise<void> {
  const { db } = notify.database;
  await db('events')
    .where({ subject, position: position ?? 0 })
    .update({ logged_at: db.raw(`now() - interval '31 days'`) });
}

test('a reader behind expired events learns that it missed some, by pages and by the stream', async () => {
  const subject = newSubject();
  await notify.tell(...lifeOf(subject, 'running', 'resolving', 'running', 'failed'));
  const { items } = await notify.page('', subject);
  const first = await notify.page('?limit=1', subject);
  for (const { sequence } of items.slice(0, 3)) await age(subject, sequence);
  await notify.call('POST', '/internal/v1/retention/run');

  const missed = {
    type: 'events.missed',
    sequence: items[2]?.sequence,
    data: { first_sequence: (items[0]?.sequence ?? 0) + 1, last_sequence: items[2]?.sequence },
  };
  const resumed = await notify.page(`?cursor=${first.next_cursor}`, subject);
  expect(resumed.items).toMatchObject([missed, { type: 'task.failed' }]);
  expect((await notify.page(`?cursor=${first.next_cursor}`, subject)).items[0]).toEqual(resumed.items[0]);
  const one = await notify.page(`?limit=1&types=task.failed&cursor=${first.next_cursor}`, subject);
  expect(one.items).toMatchObject([missed]);
  expect(typesOf(await notify.page(`?cursor=${one.next_cursor}`, subject))).toEqual(['task.failed']);

  const stream = await notify.open(`?cursor=${first.next_cursor}`, {}, subject);
  await until(() => Promise.resolve(stream.events.length === 2));
  expect(stream.events.map(({ data }) => data)).toMatchObject([missed, { type: 'task.failed' }]);
  stream.close();
  const again = await notify.open('', { 'last-event-id': stream.events[0]?.id ?? '' }, subject);
  await until(() => Promise.resolve(again.events.length === 1));
  expect(again.events.map(({ type }) => type)).toEqual(['task.failed']);
  again.close();
});

test('a reader that begins, or that has read all that expired, missed nothing', async () => {
  const subject = newSubject();
  await notify.tell(...lifeOf(subject, 'running', 'failed'));
  const { items, resume_cursor: cursor } = await notify.page('', subject);
  const { next_cursor: behindFirst } = await notify.page('?limit=1', subject);
  await age(subject, items[0]?.sequence);
  await notify.call('POST', '/internal/v1/retention/run');
  for (const query of ['', '?order=newest', `?cursor=${behindFirst}`])
    expect([query, typesOf(await notify.page(query, subject))]).toEqual([query, ['task.failed']]);
  expect((await notify.page(`?cursor=${cursor}`, subject)).items).toEqual([]);
});

test('what is older than events are retained is passed over, and ended tasks are forgotten', async () => {
  const subject = newSubject();
  const { db } = notify.database;
  const old = new Date(Date.now() - 31 * 86_400_000).toISOString();
  await notify.tell(task({ subject, updated_at: old }));
  expect((await notify.page('', subject)).items).toEqual([]);
  const [ended, running] = [task({ subject, status: 'failed' }), task({ subject })];
  await notify.tell(ended, running);
  const ids = [ended.task_id, running.task_id];
  await db('task_states').whereIn('task_id', ids).update({ updated_at: old });
  const answer = await notify.call('POST', '/internal/v1/retention/run');
  expect(await answer.json()).toMatchObject({ tasks: 1 });
  expect(await db('task_states').whereIn('task_id', ids).pluck('task_id')).toEqual([running.task_id]);
});

test('a stream sends what is logged from now on, and after a reconnect what was missed', async () => {
  const subject = newSubject();
  await notify.tell(task({ subject }));
  const stream = await notify.open('', {}, subject);
  expect(stream.answer.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  await until(() => Promise.resolve(stream.ids.length === 1));
  await notify.tell(...lifeOf(subject, 'running', 'succeeded'));
  await until(() => Promise.resolve(stream.events.length === 2));
  const { items } = await notify.page('', subject);
  expect(stream.events.map(({ data }) => data)).toEqual(items.slice(1));
  expect(stream.events.map(({ type }) => type)).toEqual(['task.running', 'task.succeeded']);
  stream.close();
  await notify.tell(task({ subject, status: 'failed' }));
  const again = await notify.open('', { 'last-event-id': stream.events[0]?.id ?? '' }, subject);
  await until(() => Promise.resolve(again.events.length === 2));
  expect(again.events.map(({ type }) => type)).toEqual(['task.succeeded', 'task.failed']);
  again.close();
  const filtered = await notify.open(`?types=task.failed&cursor=${stream.ids[0]}`, {}, subject);
  await until(() => Promise.resolve(filtered.events.length === 1));
  expect(filtered.events[0]?.type).toBe('task.failed');
  filtered.close();
});

test('a stream refuses what it does not know and cursors of pages that read backwards, and answers HEAD at once', async () => {
  const subject = newSubject();
  await notify.tell(task({ subject }), task({ subject }));
  const { next_cursor: backwards } = await notify.page('?order=newest&limit=1', subject);
  for (const query of ['limit=5', 'types=x', 'cursor=garbage', `cursor=${backwards}`]) {
    const answer = await notify.call('GET', `/v1/vision/events/stream?${query}`, subject);
    expect([query, answer.status]).toEqual([query, 400]);
  }
  const head = await notify.call('HEAD', '/v1/vision/events/stream', subject);
  expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
});
