import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { AlarmSnapshot } from '@vision/contracts/alarm-events';
import { until } from '@vision/shared/testing/until';
import { alarm, later, startNotify, task } from './support.ts';
import type { AlarmBody, TestNotify } from './support.ts';

let notify: TestNotify;
beforeAll(async () => {
  notify = await startNotify();
});
afterAll(() => notify.stop());

const newSubject = () => `subject-${randomUUID()}`;

interface AlarmPage {
  items: AlarmBody[];
  next_cursor: string;
  resume_cursor: string;
}

async function alarmsOf(subject: string, query = ''): Promise<AlarmPage> {
  const answer = await notify.call('GET', `/v1/vision/alarms${query}`, subject);
  if (answer.status !== 200) throw new Error(await answer.text());
  return (await answer.json()) as AlarmPage;
}
const idsOf = ({ items }: AlarmPage) => items.map(({ alarm_id }) => alarm_id);
const eventsOf = async (subject: string) =>
  (await notify.page('', subject)).items.map(({ type, data }) => [type, data.alarm?.version]);
const refusalOf = async (answer: Response) => [answer.status, ((await answer.json()) as { details: object }).details];

const given = ({ subject: _s, is_live: _l, judged_at: _j, ...facts }: AlarmSnapshot) => facts;

test('logs an alarm as it opens, changes and closes, and shows it as it is now', async () => {
  const subject = newSubject();
  const opened = alarm({ subject, client_ref: 'gate-3' });
  const updated = later(opened, { state: 'open', count_max: 3, closed_ms: undefined, closed_by: undefined });
  const closed = later(updated);
  await notify.tellAlarms(opened, updated, closed);
  expect(await eventsOf(subject)).toEqual([
    ['alarm.opened', 1],
    ['alarm.updated', 2],
    ['alarm.closed', 3],
  ]);
  const { items } = await notify.page('', subject);
  expect(items[0]?.data.alarm).toEqual({
    ...given(opened),
    created_at: opened.judged_at,
    updated_at: opened.judged_at,
  });
  const now = { ...given(closed), created_at: opened.judged_at, updated_at: closed.judged_at };
  expect(items[2]?.data.alarm).toEqual(now);
  expect((await alarmsOf(subject)).items).toEqual([
    { ...now, sequence: items[0]?.sequence, review: { verdict: 'none' } },
  ]);
});

test('versions that come again, late or in another order change nothing', async () => {
  const subject = newSubject();
  const opened = alarm({ subject });
  const closed = later(opened);
  await notify.tellAlarms(closed, opened, closed, opened);
  const events = [
    ['alarm.opened', 2],
    ['alarm.closed', 2],
  ];
  expect(await eventsOf(subject)).toEqual(events);
  expect((await alarmsOf(subject)).items).toMatchObject([{ version: 2, state: 'closed' }]);
});

test('an alarm that opens and closes in one has both events', async () => {
  const subject = newSubject();
  await notify.tellAlarms(
    alarm({ subject, kind: 'line_crossed', state: 'closed', closed_ms: 1, closed_by: 'cleared' }),
  );
  expect(await eventsOf(subject)).toEqual([
    ['alarm.opened', 1],
    ['alarm.closed', 1],
  ]);
});

test('a database that was set back logs the same events under the same event_id', async () => {
  const subject = newSubject();
  const { db } = notify.database;
  const opened = alarm({ subject });
  await notify.tellAlarms(opened, later(opened));
  const before = (await notify.page('', subject)).items.map(({ event_id }) => event_id);
  await db('events').where({ subject }).delete();
  await db('alarms').where({ subject }).delete();
  await notify.tellAlarms(opened, later(opened));
  expect((await notify.page('', subject)).items.map(({ event_id }) => event_id)).toEqual(before);
});

test('an alarm of a rule that a restored database lost makes results remove it', async () => {
  const subject = newSubject();
  const { db } = notify.database;
  await notify.tellAlarms(alarm({ subject, rule_id: 'lost', rule_version: 2_000_000_000 }));
  const [unknown] = await published(subject);
  expect(unknown).toMatchObject({ rule_id: 'lost', deleted: true, version: 2_000_000_001 });
  await notify.tellAlarms(alarm({ subject, rule_id: 'lost', rule_version: 2_000_000_000 }));
  expect(await published(subject)).toHaveLength(1);
  const listed = await notify.call('GET', '/v1/vision/alarm-rules/lost', subject);
  expect(listed.status).toBe(404);

  const when = { kind: 'object_present', labels: ['person'] };
  await notify.call('PUT', '/v1/vision/alarm-rules/yard', subject, { name: 'Yard', when });
  const [{ version } = { version: 0 }] = await db('alarm_rules')
    .where({ subject, rule_id: 'yard' })
    .select<{ version: number }[]>('version');
  await notify.tellAlarms(alarm({ subject, rule_id: 'yard', rule_version: version }));
  await notify.tellAlarms(alarm({ subject, rule_id: 'yard', rule_version: version + 7 }));
  const [, first, again, ...more] = await published(subject);
  expect(first).toMatchObject({ rule_id: 'yard', version });
  expect(again).toEqual({ ...first, version: expect.any(Number) });
  expect(again?.version).toBeGreaterThan(version + 7);
  expect(more).toEqual([]);
  expect((await notify.page('', subject)).items).toHaveLength(4);
});

/** Messages of notify to results about the rules of a subject. */
async function published(subject: string) {
  const rows = await notify.database
    .db('outbox')
    .where({ key: subject })
    .orderBy('id')
    .select<{ payload: { version: number } }[]>();
  return rows.map(({ payload }) => payload);
}

test('a stream sends alarms, and types select them', async () => {
  const subject = newSubject();
  const stream = await notify.open('?types=alarm.closed', {}, subject);
  await until(() => Promise.resolve(stream.ids.length === 1));
  const opened = alarm({ subject });
  await notify.tellAlarms(opened, later(opened));
  await until(() => Promise.resolve(stream.events.length === 1));
  expect(stream.events.map(({ type, data }) => [type, data.data.alarm?.alarm_id])).toEqual([
    ['alarm.closed', opened.alarm_id],
  ]);
  stream.close();
});

test('deleting a task removes its alarms and their events at once, and later versions are not logged', async () => {
  const subject = newSubject();
  const [deleted, kept] = [alarm({ subject }), alarm({ subject })];
  await notify.tellAlarms(deleted, kept);
  await notify.tellDeleted({ task_id: deleted.task_id, subject });
  const gone = await notify.call('GET', `/v1/vision/alarms/${deleted.alarm_id}`, subject);
  expect(await refusalOf(gone)).toEqual([404, { reason: 'alarm_not_found' }]);
  await notify.tellAlarms(later(deleted), alarm({ subject, task_id: deleted.task_id }));
  expect(idsOf(await alarmsOf(subject))).toEqual([kept.alarm_id]);
  expect(await eventsOf(subject)).toEqual([['alarm.opened', 1]]);
});

test('a deletion that comes before the first alarm of its task refuses it', async () => {
  const subject = newSubject();
  const late = alarm({ subject });
  await notify.tellDeleted({ task_id: late.task_id, subject });
  await notify.tellAlarms(late);
  expect([(await alarmsOf(subject)).items, await eventsOf(subject)]).toEqual([[], []]);
});

test('of a task that is deleted while its alarms arrive nothing is left', async () => {
  const subject = newSubject();
  const alarms = Array.from({ length: 20 }, () => alarm({ subject }));
  await Promise.all(
    alarms.map(async (one) => {
      await Promise.all([notify.tellAlarms(one, later(one)), notify.tellDeleted(one)]);
    }),
  );
  expect([(await alarmsOf(subject)).items, await eventsOf(subject)]).toEqual([[], []]);
});

test('every filter selects, and combined they select what fits all', async () => {
  const subject = newSubject();
  const [first, second, third] = [
    alarm({ subject, rule_id: 'yard', client_ref: 'gate-3', opened_ms: 1000 }),
    alarm({ subject, rule_id: 'dock', client_ref: 'gate-3', opened_ms: 2000 }),
    alarm({ subject, rule_id: 'dock', opened_ms: 3000 }),
  ];
  await notify.tellAlarms(first, second, third, later(second));
  await notify.call('PUT', `/v1/vision/alarms/${third.alarm_id}/review`, subject, { verdict: 'confirmed' });
  const [a, b, c] = [first.alarm_id, second.alarm_id, third.alarm_id];
  const expected: [string, string[]][] = [
    ['', [c, b, a]],
    ['?order=oldest', [a, b, c]],
    [`?task_id=${second.task_id}`, [b]],
    ['?client_ref=gate-3', [b, a]],
    ['?rule_id=dock', [c, b]],
    ['?state=open', [c, a]],
    ['?state=closed', [b]],
    ['?verdict=confirmed', [c]],
    ['?verdict=none', [b, a]],
    ['?from_ms=2000', [c, b]],
    ['?to_ms=2000', [a]],
    ['?rule_id=dock&client_ref=gate-3&from_ms=1500&to_ms=2500&state=closed&verdict=none', [b]],
    ['?client_ref=nowhere', []],
  ];
  for (const [query, ids] of expected) expect([query, idsOf(await alarmsOf(subject, query))]).toEqual([query, ids]);
});

test('pages go on where the last one ended, and resume_cursor has alarms that open later', async () => {
  const subject = newSubject();
  const alarms = Array.from({ length: 3 }, () => alarm({ subject }));
  await notify.tellAlarms(...alarms);
  const first = await alarmsOf(subject, '?limit=2');
  const second = await alarmsOf(subject, `?limit=2&cursor=${first.next_cursor}`);
  expect([...idsOf(first), ...idsOf(second)]).toEqual(alarms.map(({ alarm_id }) => alarm_id).toReversed());
  expect(second.next_cursor).toBe('');
  const next = alarm({ subject });
  await notify.tellAlarms(next);
  for (const { resume_cursor: cursor } of [first, second])
    expect(idsOf(await alarmsOf(subject, `?cursor=${cursor}`))).toEqual([next.alarm_id]);
});

test('cursors of events and of alarms open as no others', async () => {
  const subject = newSubject();
  await notify.tellAlarms(alarm({ subject }));
  const [events, alarms] = [await notify.page('', subject), await alarmsOf(subject)];
  for (const path of [`alarms?cursor=${events.resume_cursor}`, `events?cursor=${alarms.resume_cursor}`]) {
    const answer = await notify.call('GET', `/v1/vision/${path}`, subject);
    expect(await refusalOf(answer)).toEqual([400, { reason: 'cursor_invalid', field: 'cursor' }]);
  }
});

test('subjects see and review their own alarms only', async () => {
  const [mine, other] = [newSubject(), newSubject()];
  const { alarm_id: id } = alarm({ subject: mine });
  await notify.tellAlarms(alarm({ subject: mine, alarm_id: id }));
  expect((await alarmsOf(other)).items).toEqual([]);
  const body = { verdict: 'confirmed' };
  for (const answer of [
    await notify.call('GET', `/v1/vision/alarms/${id}`, other),
    await notify.call('PUT', `/v1/vision/alarms/${id}/review`, other, body),
    await notify.call('GET', `/v1/vision/alarms/${randomUUID()}`, mine),
  ])
    expect(await refusalOf(answer)).toEqual([404, { reason: 'alarm_not_found' }]);
  expect((await alarmsOf(mine)).items).toMatchObject([{ review: { verdict: 'none' } }]);
});

test('a review is stored, repeated and withdrawn, and a later version of the alarm keeps it', async () => {
  const subject = newSubject();
  const opened = alarm({ subject });
  await notify.tellAlarms(opened);
  const review = async (body: unknown) => {
    const answer = await notify.call('PUT', `/v1/vision/alarms/${opened.alarm_id}/review`, subject, body);
    return [answer.status, ((await answer.json()) as AlarmBody).review];
  };
  const verdict = { verdict: 'false_alarm', note: 'the gardener 🌱' };
  const first = await review(verdict);
  expect(first).toEqual([200, { ...verdict, reviewed_at: expect.any(String) }]);
  expect(await review(verdict)).toEqual(first);
  await notify.tellAlarms(later(opened));
  const answer = await notify.call('GET', `/v1/vision/alarms/${opened.alarm_id}`, subject);
  expect(await answer.json()).toMatchObject({ state: 'closed', review: verdict });
  expect(await review({ verdict: 'none' })).toEqual([200, { verdict: 'none', reviewed_at: expect.any(String) }]);
});

test.each([
  [{ verdict: 'perhaps' }, 'body_invalid', 'verdict'],
  [{ note: 'x' }, 'body_invalid', 'verdict'],
  [{ verdict: 'confirmed', note: 'x'.repeat(501) }, 'body_invalid', 'note'],
  [{ verdict: 'confirmed', note: 'a\0b' }, 'body_invalid', 'note'],
  ['{"verdict":"confirmed","note":"\\ud800"}', 'body_invalid', 'note'],
  [{ verdict: 'confirmed', colour: 'red' }, 'unknown_field', 'colour'],
])('the review %j is refused', async (body, reason, field) => {
  const answer = await notify.call('PUT', `/v1/vision/alarms/${randomUUID()}/review`, newSubject(), body);
  expect(await refusalOf(answer)).toEqual([400, { reason, field }]);
});

test.each([
  ['limit=0', 'query_invalid', 'limit'],
  ['limit=501', 'query_invalid', 'limit'],
  ['state=ajar', 'query_invalid', 'state'],
  ['verdict=perhaps', 'query_invalid', 'verdict'],
  ['task_id=7', 'query_invalid', 'task_id'],
  ['rule_id=Yard', 'query_invalid', 'rule_id'],
  ['client_ref=a%00b', 'query_invalid', 'client_ref'],
  ['from_ms=-1', 'query_invalid', 'from_ms'],
  ['from_ms=1e3', 'query_invalid', 'from_ms'],
  ['to_ms=9999999999999999', 'query_invalid', 'to_ms'],
  ['from_ms=9&to_ms=5', 'query_invalid', 'to_ms'],
  ['from_ms=5&to_ms=5', 'query_invalid', 'to_ms'],
  ['state=open&state=closed', 'query_invalid', 'state'],
  ['colour=red', 'unknown_field', 'colour'],
  ['cursor=garbage', 'cursor_invalid', 'cursor'],
])('%s is refused', async (query, reason, field) => {
  const answer = await notify.call('GET', `/v1/vision/alarms?${query}`, newSubject());
  expect(await refusalOf(answer)).toEqual([400, { reason, field }]);
});

test('retention removes closed alarms, and open ones only when their task has ended', async () => {
  const subject = newSubject();
  const { db } = notify.database;
  const running = task({ subject });
  await notify.tell(running);
  const [closed, kept, left] = [alarm({ subject }), alarm({ subject, task_id: running.task_id }), alarm({ subject })];
  const recent = alarm({ subject });
  await notify.tellAlarms(later(closed), kept, left, recent);
  const old = [closed, kept, left].map(({ alarm_id }) => alarm_id);
  await db('alarms')
    .whereIn('alarm_id', old)
    .update({ updated_at: db.raw(`now() - interval '31 days'`) });
  const answer = await notify.call('POST', '/internal/v1/retention/run');
  expect(await answer.json()).toMatchObject({ alarms: 2 });
  expect(idsOf(await alarmsOf(subject, '?order=oldest'))).toEqual([kept.alarm_id, recent.alarm_id]);
});

test('an alarm that is older than events are retained is passed over', async () => {
  const subject = newSubject();
  const judged_at = new Date(Date.now() - 31 * 86_400_000).toISOString();
  await notify.tellAlarms(alarm({ subject, judged_at }));
  expect([(await alarmsOf(subject)).items, await eventsOf(subject)]).toEqual([[], []]);
});
