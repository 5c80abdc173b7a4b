import { randomUUID } from 'node:crypto';
import type { Attack, AttackGroup } from '../attack.ts';
import { invalid, said } from '../say.ts';

const RULE_INVALID = invalid('rule_invalid');
const present = { kind: 'object_present', labels: ['person'] };
const line = (...points: number[][]) => ({ kind: 'line_crossed', labels: ['person'], line: points });
const window = { days: ['mon'], from: '00:00', to: '24:00' };
const body = { task_id: randomUUID(), from_ms: 0, to_ms: 60_000, when: present };

const tried = (name: string, expected: string, sent: object | string): Attack => ({
  name: `a rule ${name}`,
  expected,
  attempt: async ({ caller }) => {
    const stranger = await caller();
    const answer = await stranger.send('POST', '/v1/vision/alarm-backtests', {
      body: typeof sent === 'string' ? sent : JSON.stringify({ ...body, ...sent }),
      headers: { 'content-type': 'application/json' },
    });
    return said(answer);
  },
});

const when = (name: string, condition: unknown, expected = RULE_INVALID) => tried(name, expected, { when: condition });
const schedule = (name: string, given: unknown, expected = RULE_INVALID) => tried(name, expected, { schedule: given });

export const backtests: AttackGroup = {
  title: 'Backtests of alarm rules',
  wanted: 'a rule that cannot be judged, or work without end',
  withinMs: 30_000,
  atOnce: 4,
  attacks: [
    when('with a line of length zero', line([0.5, 0.5], [0.5, 0.5])),
    when('with a line beyond the image', line([0.5, 0.5], [0.5, 1.5])),
    when('with a line of one point', line([0.5, 0.5])),
    when('with a line of three points', line([0, 0], [0.5, 0.5], [1, 0])),
    when(
      'with a region that crosses itself',
      {
        ...present,
        region: [
          [0, 0],
          [1, 1],
          [1, 0],
          [0, 1],
        ],
      },
      invalid('region_invalid'),
    ),
    when('with 17 corners', { ...present, region: Array.from({ length: 17 }, (_, at) => [at / 16, (at / 16) ** 2]) }),
    when('with for_ms -1', { ...present, for_ms: -1 }),
    when('with for_ms 1e999', { ...present, for_ms: '1e999' }),
    when('without a label', { ...present, labels: [] }),
    when('with a label of 101 characters', { ...present, labels: ['a'.repeat(101)] }),
    when('of an unknown kind', { kind: 'constructor' }),
    when('that is a list', [present]),
    when('with a field that is not listed', { ...present, colour: 'red' }, invalid('unknown_field')),
    schedule('in the zone Mars/X', { time_zone: 'Mars/X', windows: [window] }, invalid('time_zone_unknown')),
    schedule(
      'in a zone with a path',
      { time_zone: '../../etc/passwd', windows: [window] },
      invalid('time_zone_unknown'),
    ),
    schedule('from 25:00', { time_zone: 'UTC', windows: [{ ...window, from: '25:00' }] }),
    schedule('with 21 windows', { time_zone: 'UTC', windows: Array.from({ length: 21 }, () => window) }),
    tried('over seven hours', invalid('body_invalid'), { to_ms: 7 * 3_600_000 }),
    tried('over a time backwards', invalid('body_invalid'), { to_ms: -1 }),
    tried('from a time beyond exact numbers', invalid('body_invalid'), { from_ms: -9_007_199_254_740_993 }),
    tried('of 64 KiB and more', invalid('body_too_large'), { padding: 'a'.repeat(64 * 1024) }),
    tried(
      'nested 10,000 deep',
      invalid('rule_invalid'),
      `{"task_id":"${randomUUID()}","from_ms":0,"to_ms":1,"when":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
    ),
  ],
};
