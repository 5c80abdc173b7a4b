import { randomUUID } from 'node:crypto';
import type { Attack, AttackGroup } from '../attack.ts';
import { each, invalid, NOT_FOUND, said } from '../say.ts';

const RULE_INVALID = invalid('rule_invalid');
const BODY_INVALID = invalid('body_invalid');
const BAD_QUERY = invalid('query_invalid');
const NO_RULE = '404 rule_not_found';
const NO_ALARM = '404 alarm_not_found';
const JSON_BODY = { 'content-type': 'application/json' };

const when = { kind: 'object_present', labels: ['person'] };
const rule = { name: 'yard', when };

type Sent = [method: string, path: string, body?: object | string];

/** Sends something as a tenant of its own. */
const sends = (name: string, expected: string, [method, path, body]: Sent): Attack => ({
  name,
  expected,
  attempt: async ({ caller }) => {
    const stranger = await caller();
    const text = typeof body === 'object' ? JSON.stringify(body) : body;
    const sent = text === undefined ? {} : { body: text, headers: JSON_BODY };
    return said(await stranger.send(method, `/v1/vision${path}`, sent));
  },
});

const puts = (name: string, expected: string, body: object | string) =>
  sends(`an alarm rule ${name}`, expected, ['PUT', '/alarm-rules/yard', body]);
const reviews = (name: string, expected: string, body: object | string) =>
  sends(`a review ${name}`, expected, ['PUT', `/alarms/${randomUUID()}/review`, body]);
const lists = (query: string, expected = BAD_QUERY) =>
  sends(`alarms by ${query.slice(0, 30)}`, expected, ['GET', `/alarms?${query}`]);

const RACERS = 20;

export const alarms: AttackGroup = {
  title: 'Alarm rules and alarms',
  wanted: 'rules of another tenant, a rule that breaks its service, or more rules than allowed',
  withinMs: 30_000,
  atOnce: 4,
  attacks: [
    puts('without a name', BODY_INVALID, { when }),
    puts('whose name has a NUL', BODY_INVALID, { ...rule, name: 'a\0b' }),
    puts('whose name has half a surrogate pair', BODY_INVALID, '{"name":"\\ud800","when":{}}'),
    puts('with a label of half a surrogate pair', RULE_INVALID, { name: 'x', when: { ...when, labels: ['\ud800'] } }),
    puts('of an unknown kind', RULE_INVALID, { ...rule, when: { kind: '__proto__' } }),
    puts('without a label', RULE_INVALID, { ...rule, when: { ...when, labels: [] } }),
    puts('with for_ms -1', RULE_INVALID, { ...rule, when: { ...when, for_ms: -1 } }),
    puts('with a region of two corners', RULE_INVALID, {
      ...rule,
      when: {
        ...when,
        region: [
          [0, 0],
          [1, 1],
        ],
      },
    }),
    puts('for an empty scope', RULE_INVALID, { ...rule, scope: {} }),
    puts('for 101 tasks', RULE_INVALID, {
      ...rule,
      scope: { task_ids: Array.from({ length: 101 }, () => randomUUID()) },
    }),
    puts('for a client_ref with a quote', RULE_INVALID, { ...rule, scope: { client_refs: ["'; drop table rules"] } }),
    puts('in the zone Mars/X', invalid('time_zone_unknown'), {
      ...rule,
      schedule: { time_zone: 'Mars/X', windows: [{ days: ['mon'], from: '00:00', to: '24:00' }] },
    }),
    puts(
      'with an interval of 1e999',
      RULE_INVALID,
      '{"name":"x","when":{"kind":"source_down"},"min_interval_ms":1e999}',
    ),
    puts('with a version of its own', invalid('unknown_field'), { ...rule, version: 1 }),
    puts('with a subject of its own', invalid('unknown_field'), { ...rule, subject: 'victim' }),
    puts('of 64 KiB and more', invalid('body_too_large'), { ...rule, name: 'a'.repeat(64 * 1024) }),
    puts('that is a list', BODY_INVALID, [rule]),
    ...['Yard', '..', '%2e%2e', 'a%2fb', 'x'.repeat(65), '%00', ''].map((id) =>
      sends(`an alarm rule named "${id.slice(0, 10)}"`, NOT_FOUND, ['PUT', `/alarm-rules/${id}`, rule]),
    ),
    sends('a rule that never was', NO_RULE, ['GET', '/alarm-rules/yard']),
    sends('deleting a rule that never was', NO_RULE, ['DELETE', '/alarm-rules/yard']),
    {
      name: 'the alarm rule of another tenant, read and deleted',
      expected: `${NO_RULE}, ${NO_RULE}, 200`,
      attempt: async ({ caller }) => {
        const [victim, stranger] = [await caller(), await caller()];
        const path = '/v1/vision/alarm-rules/mine';
        await victim.send('PUT', path, { body: JSON.stringify(rule), headers: JSON_BODY });
        const tried = [await stranger.get(path), await stranger.send('DELETE', path, {}), await victim.get(path)];
        return tried.map(said).join(', ');
      },
    },
    {
      name: `${RACERS} alarm rules at once beyond a limit of 2`,
      expected: '2 rules, 201, 409 limit_reached',
      attempt: async ({ caller }) => {
        const racer = await caller({ alarm_rules: 2 });
        const answers = await Promise.all(
          Array.from({ length: RACERS }, (_, index) =>
            racer.send('PUT', `/v1/vision/alarm-rules/r${index}`, { body: JSON.stringify(rule), headers: JSON_BODY }),
          ),
        );
        const { body } = await racer.get('/v1/vision/alarm-rules');
        return `${(body['items'] as unknown[]).length} rules, ${each(answers.map(said))}`;
      },
    },
    reviews('of an alarm that never was', NO_ALARM, { verdict: 'confirmed' }),
    reviews('with an unknown verdict', BODY_INVALID, { verdict: 'constructor' }),
    reviews('with a note of 501 characters', BODY_INVALID, { verdict: 'confirmed', note: 'a'.repeat(501) }),
    reviews('with a note that has a NUL', BODY_INVALID, { verdict: 'confirmed', note: 'a\0b' }),
    sends('an alarm that never was', NO_ALARM, ['GET', `/alarms/${randomUUID()}`]),
    sends('an alarm whose id is none', NOT_FOUND, ['GET', '/alarms/1%27--']),
    ...['limit=0', 'state=__proto__', 'verdict=x', 'task_id=7', 'from_ms=-1', 'to_ms=9007199254740993'].map((query) =>
      lists(query),
    ),
    lists(`client_ref=${'a'.repeat(65)}`),
    lists('rule_id=a&rule_id=b'),
    lists('colour=red', invalid('unknown_field')),
    lists(`cursor=${'A'.repeat(46)}`, invalid('cursor_invalid')),
    {
      name: 'a cursor of events for alarms',
      expected: invalid('cursor_invalid'),
      attempt: async ({ caller }) => {
        const owner = await caller();
        const { body } = await owner.get('/v1/vision/events');
        return said(await owner.get(`/v1/vision/alarms?cursor=${String(body['resume_cursor'])}`));
      },
    },
  ],
};
