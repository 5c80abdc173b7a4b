import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ruleWhen } from '@vision/contracts/alarm-rules';
import type { RuleSnapshot } from '@vision/contracts/rule-events';
import { until } from '@vision/shared/testing/until';
import { createSignals } from '../src/signals.ts';
import { deleteAlarmRule } from '../src/use-cases/rules/delete-alarm-rule.ts';
import { putAlarmRule } from '../src/use-cases/rules/put-alarm-rule.ts';
import { repeatRules } from '../src/use-cases/rules/repeat-rules.ts';
import { createRuleChanges } from '../src/use-cases/rules/rule-changes.ts';
import { alarm, logger, startNotify } from './support.ts';
import type { TestNotify } from './support.ts';

let notify: TestNotify;
beforeAll(async () => {
  notify = await startNotify();
});
afterAll(() => notify.stop());

const newSubject = () => `subject-${randomUUID()}`;
const present = { kind: 'object_present', labels: ['person'] };
const rule = { name: 'Yard at night', when: present };

interface RuleBody {
  rule_id: string;
  version: number;
  name: string;
  created_at: string;
  updated_at: string;
  verdicts?: object;
}

async function put(subject: string, id: string, body: unknown = rule): Promise<[number, RuleBody]> {
  const answer = await notify.call('PUT', `/v1/vision/alarm-rules/${id}`, subject, body);
  return [answer.status, (await answer.json()) as RuleBody];
}
async function get(subject: string, path = ''): Promise<[number, unknown]> {
  const answer = await notify.call('GET', `/v1/vision/alarm-rules${path}`, subject);
  return [answer.status, await answer.json()];
}
const remove = async (subject: string, id: string) =>
  (await notify.call('DELETE', `/v1/vision/alarm-rules/${id}`, subject)).status;

/** Versions of rules that were published, in the order of the outbox. */
async function published(subject: string): Promise<RuleSnapshot[]> {
  const rows = () => notify.database.db('outbox').where({ key: subject, topic: 'vision.rules.v1' }).orderBy('id');
  await until(async () => (await rows()).every(({ published_at: at }: { published_at: unknown }) => at !== null));
  return (await rows()).map(({ payload }: { payload: RuleSnapshot }) => payload);
}

test('a rule is created, read, replaced and published with every change', async () => {
  const subject = newSubject();
  const [status, created] = await put(subject, 'yard');
  expect([status, created]).toEqual([
    201,
    {
      rule_id: 'yard',
      version: expect.any(Number),
      name: 'Yard at night',
      enabled: true,
      when: { ...present, anchor: 'bottom_center', min_count: 1, for_ms: 0, clear_ms: 5000 },
      min_interval_ms: 60_000,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    },
  ]);
  expect(await get(subject, '/yard')).toEqual([
    200,
    { ...created, verdicts: { none: 0, confirmed: 0, false_alarm: 0 } },
  ]);
  const [again, changed] = await put(subject, 'yard', { ...rule, enabled: false });
  expect([again, changed.created_at, changed.version > created.version]).toEqual([200, created.created_at, true]);
  expect(await published(subject)).toMatchObject([
    { subject, rule_id: 'yard', version: created.version, deleted: false, enabled: true, min_interval_ms: 60_000 },
    { subject, rule_id: 'yard', version: changed.version, deleted: false, enabled: false },
  ]);
});

test('a repeat changes nothing, in any order of its fields, and another name changes no version', async () => {
  const subject = newSubject();
  const [, created] = await put(subject, 'yard');
  expect(await put(subject, 'yard', { when: { labels: ['person'], kind: 'object_present' }, name: rule.name })).toEqual(
    [200, created],
  );
  const [status, renamed] = await put(subject, 'yard', { ...rule, name: 'Hof' });
  expect([status, renamed.name, renamed.version]).toEqual([200, 'Hof', created.version]);
  expect(await published(subject)).toHaveLength(1);
});

test('a deleted rule is gone, a repeat is accepted, and a new rule of the name continues its versions', async () => {
  const subject = newSubject();
  const [, created] = await put(subject, 'yard');
  expect([await remove(subject, 'yard'), await remove(subject, 'yard')]).toEqual([204, 204]);
  expect((await published(subject)).at(-1)).toMatchObject({ deleted: true, when: present });
  // No text of its caller remains, however often a caller creates and deletes rules.
  const rows: unknown[] = await notify.database.db('alarm_rules').where({ subject });
  expect(JSON.stringify(rows)).not.toMatch(/person|Yard/);
  expect(await get(subject, '/yard')).toMatchObject([404, { details: { reason: 'rule_not_found' } }]);
  expect(await get(subject)).toEqual([200, { items: [] }]);
  const [status, anew] = await put(subject, 'yard');
  expect(status).toBe(201);
  const versions = (await published(subject)).map(({ version, deleted }) => [version, deleted]);
  const [, gone = [0]] = versions;
  expect(versions).toEqual([
    [created.version, false],
    [gone[0], true],
    [anew.version, false],
  ]);
  expect(created.version < Number(gone[0]) && Number(gone[0]) < anew.version).toBe(true);
});

test('a version that a database lost is not given to another definition', async () => {
  const subject = newSubject();
  const { db } = notify.database;
  const [, created] = await put(subject, 'yard');
  // As an older copy from before the rule, some seconds later.
  await db('alarm_rules').where({ subject }).delete();
  await until(() => Promise.resolve(Math.floor(Date.now() / 1000) > created.version));
  const [, other] = await put(subject, 'yard', { ...rule, enabled: false });
  expect(other.version).toBeGreaterThan(created.version);
});

test('rules are listed by their names, to their own subject', async () => {
  const [mine, other] = [newSubject(), newSubject()];
  for (const id of ['b', 'a-2', 'a']) await put(mine, id);
  await put(other, 'a', { ...rule, name: 'of another subject' });
  const [, list] = await get(mine);
  expect((list as { items: RuleBody[] }).items.map(({ rule_id: id, name }) => [id, name])).toEqual([
    ['a', rule.name],
    ['a-2', rule.name],
    ['b', rule.name],
  ]);
  expect(await remove(other, 'b')).toBe(404);
  expect((await get(mine, '/b'))[0]).toBe(200);
});

test('the rule after the last allowed one is refused, also when many come at once; others can be changed', async () => {
  const subject = newSubject();
  const { db } = notify.database;
  await put(subject, 'first');
  await db.raw(
    `insert into alarm_rules select subject, 'r' || n, version, name, definition, created_at, updated_at
       from alarm_rules, generate_series(1, 197) as n where subject = ?`,
    [subject],
  );
  const answers = await Promise.all(Array.from({ length: 5 }, (_, index) => put(subject, `last-${index}`)));
  expect(answers.map(([status]) => status).toSorted()).toEqual([201, 201, 409, 409, 409]);
  const [status, body] = await put(subject, 'one-more');
  expect([status, body]).toMatchObject([
    409,
    { details: { reason: 'limit_reached', limit: 'alarm_rules', allowed: 200 } },
  ]);
  expect((await put(subject, 'r7', { ...rule, enabled: false }))[0]).toBe(200);
  expect(await remove(subject, 'r8')).toBe(204);
  expect((await put(subject, 'one-more'))[0]).toBe(201);
});

test('changes beyond those of a minute are refused, of this subject alone; a repeat is no change', async () => {
  const [busy, other] = [newSubject(), newSubject()];
  const { db } = notify.database;
  const signals = createSignals(logger);
  const deps = { db, signals, wakeRelay: () => undefined, ruleChanges: createRuleChanges(2) };
  const store = (subject: string, min_interval_ms: number) =>
    putAlarmRule(deps, {
      subject,
      ruleId: 'yard',
      given: { ...rule, when: ruleWhen.parse(present), enabled: true, min_interval_ms },
      allowed: 200,
    });
  const refused = { code: 'OP-QUOTA-RATE-LIMITED', reason: 'rule_change_rate' };
  const first = await store(busy, 1);
  expect(await store(busy, 1)).toEqual({ ...first, isNew: false });
  const { rule: second } = await store(busy, 2);
  await expect(store(busy, 3)).rejects.toMatchObject(refused);
  await expect(deleteAlarmRule(deps, { subject: busy, ruleId: 'yard' })).rejects.toMatchObject(refused);
  expect((await store(busy, 2)).rule).toEqual(second);
  expect((await store(other, 1)).isNew).toBe(true);
  expect(await published(busy)).toHaveLength(2);
});

test('a change whose transaction is repeated counts once', async () => {
  const changes = createRuleChanges(1);
  const { count } = changes.of('busy');
  await count();
  await count();
  await expect(changes.of('busy').count()).rejects.toMatchObject({ reason: 'rule_change_rate' });
});

test('a rule counts the verdicts of its own alarms of seven days', async () => {
  const subject = newSubject();
  await put(subject, 'yard');
  const alarms = Array.from({ length: 4 }, () => alarm({ subject, rule_id: 'yard' }));
  const old = alarm({ subject, rule_id: 'yard', judged_at: new Date(Date.now() - 8 * 86_400_000).toISOString() });
  await notify.tellAlarms(...alarms, old, alarm({ subject, rule_id: 'dock' }));
  const verdicts = ['confirmed', 'confirmed', 'false_alarm'];
  for (const [index, verdict] of verdicts.entries())
    await notify.call('PUT', `/v1/vision/alarms/${alarms[index]?.alarm_id}/review`, subject, { verdict });
  expect(await get(subject, '/yard')).toMatchObject([200, { verdicts: { none: 1, confirmed: 2, false_alarm: 1 } }]);
});

test('every rule is published once a day as it is, a deleted one is not', async () => {
  const subject = newSubject();
  const { db } = notify.database;
  for (const id of ['yard', 'gate', 'gone']) await put(subject, id);
  expect(await remove(subject, 'gone')).toBe(204);
  const before = await published(subject);
  const rules = () => db('alarm_rules').where({ subject });
  const deps = { db, wakeRelay: () => undefined };
  await repeatRules(deps);
  expect(await published(subject)).toEqual(before);
  await rules().update({ published_at: db.raw(`now() - interval '25 hours'`) });
  await Promise.all([repeatRules(deps), repeatRules(deps)]);
  await repeatRules(deps);
  const again = (await published(subject)).slice(before.length);
  expect(again).toHaveLength(2);
  for (const id of ['yard', 'gate']) {
    const known = before.find(({ rule_id: one }) => one === id);
    expect(again.find(({ rule_id: one }) => one === id)).toEqual(known);
  }
});

test('retention forgets rules that were deleted long ago', async () => {
  const subject = newSubject();
  const { db } = notify.database;
  await put(subject, 'yard');
  await put(subject, 'dock');
  await remove(subject, 'yard');
  await db('alarm_rules')
    .where({ subject, rule_id: 'yard' })
    .update({ deleted_at: db.raw(`now() - interval '31 days'`) });
  const answer = await notify.call('POST', '/internal/v1/retention/run');
  expect(await answer.json()).toMatchObject({ rules: 1 });
  expect(await db('alarm_rules').where({ subject }).pluck('rule_id')).toEqual(['dock']);
});

const window = { days: ['mon'], from: '00:00', to: '24:00' };
test.each([
  [{ when: present }, 'body_invalid', 'name'],
  [{ ...rule, name: '' }, 'body_invalid', 'name'],
  [{ ...rule, name: 'x'.repeat(101) }, 'body_invalid', 'name'],
  [{ ...rule, name: 'a\0b' }, 'body_invalid', 'name'],
  [{ ...rule, enabled: 'yes' }, 'body_invalid', 'enabled'],
  [{ ...rule, colour: 'red' }, 'unknown_field', 'colour'],
  [{ name: 'x' }, 'rule_invalid', 'when'],
  [{ ...rule, when: { ...present, labels: [] } }, 'rule_invalid', 'when.labels'],
  ['{"name":"x","when":{"kind":"object_present","labels":["\\ud800"]}}', 'rule_invalid', 'when.labels.0'],
  [{ ...rule, when: { ...present, for_ms: -1 } }, 'rule_invalid', 'when.for_ms'],
  [
    {
      ...rule,
      when: {
        ...present,
        region: [
          [0, 0],
          [1, 1],
          [1, 0],
          [0, 1],
        ],
      },
    },
    'region_invalid',
    'when.region',
  ],
  [
    {
      ...rule,
      when: {
        kind: 'line_crossed',
        labels: ['a'],
        line: [
          [0, 0],
          [0, 0],
        ],
      },
    },
    'rule_invalid',
    'when.line',
  ],
  [{ ...rule, scope: {} }, 'rule_invalid', 'scope'],
  [{ ...rule, scope: { client_refs: [] } }, 'rule_invalid', 'scope.client_refs'],
  [{ ...rule, scope: { task_ids: ['7'] } }, 'rule_invalid', 'scope.task_ids.0'],
  [{ ...rule, schedule: { time_zone: 'Mars/X', windows: [window] } }, 'time_zone_unknown', 'schedule.time_zone'],
  [
    { ...rule, schedule: { time_zone: 'UTC', windows: [{ ...window, from: '25:00' }] } },
    'rule_invalid',
    'schedule.windows.0.from',
  ],
  [{ ...rule, min_interval_ms: -1 }, 'rule_invalid', 'min_interval_ms'],
])('the rule %j is refused', async (body, reason, field) => {
  const [status, refusal] = await put(newSubject(), 'yard', body);
  expect([status, refusal]).toMatchObject([400, { details: { reason, field } }]);
});

test.each(['Yard', '-yard', 'a%2Fb', 'x'.repeat(65), '..%2f'])('a rule cannot be named %s', async (id) => {
  expect((await put(newSubject(), id))[0]).toBe(404);
});
