import { expect, test } from '@jest/globals';
import { ruleSchedule, ruleWhen } from './alarm-rules.ts';

const present = { kind: 'object_present', labels: ['person'] };
const line = { kind: 'line_crossed', labels: ['person'] };
const crossed = [
  [0, 0],
  [1, 1],
  [1, 0],
  [0, 1],
];
const issueOf = (schema: typeof ruleWhen | typeof ruleSchedule, input: unknown) => {
  const issue = schema.safeParse(input).error?.issues[0];
  return issue && [issue.path.join('.'), (issue.code === 'custom' && issue.params?.['reason']) || 'none'];
};

test('gives a condition its defaults', () => {
  expect(ruleWhen.parse(present)).toEqual({
    ...present,
    anchor: 'bottom_center',
    min_count: 1,
    for_ms: 0,
    clear_ms: 5000,
  });
  expect(ruleWhen.parse({ kind: 'source_down' })).toEqual({ kind: 'source_down', for_ms: 60_000 });
  expect(ruleWhen.parse({ kind: 'task_ended' })).toEqual({ kind: 'task_ended', statuses: ['failed'] });
});

test.each<[unknown, string, string]>([
  [{ ...present, labels: [] }, 'labels', 'none'],
  [{ ...present, labels: ['a\0'] }, 'labels.0', 'none'],
  [{ ...present, for_ms: -1 }, 'for_ms', 'none'],
  [{ ...present, for_ms: 0.5 }, 'for_ms', 'none'],
  [{ ...present, min_count: 0 }, 'min_count', 'none'],
  [{ ...present, min_score: 1.01 }, 'min_score', 'none'],
  [{ ...present, region: Array.from({ length: 17 }, (_, at) => [at / 20, (at / 20) ** 2]) }, 'region', 'none'],
  [{ ...present, region: crossed }, 'region', 'region_invalid'],
  [{ kind: 'object_absent', labels: ['person'], for_ms: 9_999 }, 'for_ms', 'none'],
  [{ ...line, line: [[0, 0]] }, 'line', 'none'],
  [{ ...line, line: crossed.slice(1) }, 'line', 'none'],
  [
    {
      ...line,
      line: [
        [0.5, 0.5],
        [0.5, 0.5 + 1e-9],
      ],
    },
    'line',
    'none',
  ],
  [
    {
      ...line,
      line: [
        [0, 0],
        [1, 1.01],
      ],
    },
    'line.1.1',
    'none',
  ],
  [{ kind: 'magic' }, 'kind', 'none'],
])('refuses the condition %j', (input, field, reason) => {
  expect(issueOf(ruleWhen, input)).toEqual([field, reason]);
});

const night = { days: ['mon'], from: '18:00', to: '06:00' };

test.each<[unknown, string, string]>([
  [{ time_zone: 'Mars/X', windows: [night] }, 'time_zone', 'time_zone_unknown'],
  [{ time_zone: '+02:00', windows: [night] }, 'time_zone', 'time_zone_unknown'],
  [{ time_zone: 'UTC', windows: [] }, 'windows', 'none'],
  [{ time_zone: 'UTC', windows: [{ ...night, to: '25:00' }] }, 'windows.0.to', 'none'],
  [{ time_zone: 'UTC', windows: [{ ...night, from: '24:00' }] }, 'windows.0.from', 'none'],
  [{ time_zone: 'UTC', windows: [{ ...night, to: '18:00' }] }, 'windows.0.to', 'none'],
  [{ time_zone: 'UTC', windows: [{ ...night, days: ['monday'] }] }, 'windows.0.days.0', 'none'],
])('refuses the schedule %j', (input, field, reason) => {
  expect(issueOf(ruleSchedule, input)).toEqual([field, reason]);
});
