import { expect, test } from '@jest/globals';
import type { AlarmRule } from '@vision/client';
import { whenText } from '../alarms/rule-words.ts';
import { draftOf, emptyDraft, conditionsOf, problemOf, ruleIdOf, ruleKinds, scopeOf, whenOf } from './rule-draft.ts';
import type { RuleDraft, RuleKind, RuleWhen } from './rule-draft.ts';
import { HALVES } from './shape.ts';

const rule = (when: RuleWhen): AlarmRule => ({
  rule_id: 'yard',
  version: 1,
  name: 'Yard',
  enabled: true,
  when,
  min_interval_ms: 30_000,
  schedule: { time_zone: 'Europe/Berlin', windows: [{ days: ['mon'], from: '18:00', to: '06:00' }] },
  created_at: '',
  updated_at: '',
});

test('every kind of rule comes back from the form as it went in', () => {
  for (const kind of ruleKinds) {
    const draft = { ...emptyDraft, kind, labels: ['person'], minScore: 0.6, isPart: true, intervalS: 30 };
    const stored = rule(whenOf(draft));
    expect(conditionsOf(draftOf(stored))).toEqual({
      when: stored.when,
      min_interval_ms: 30_000,
      schedule: stored.schedule,
    });
  }
});

test('what is missing is named', () => {
  expect(problemOf(emptyDraft)).toBe('labels');
  expect(problemOf({ ...emptyDraft, binding: 'open' })).toBe('tasks');
  const people = { ...emptyDraft, labels: ['person'] };
  expect(problemOf(people)).toBeUndefined();
  expect(problemOf({ ...people, isPart: true, region: [[0, 0]] })).toBe('few');
  expect(problemOf({ ...people, region: [[0, 0]] })).toBeUndefined();
  expect(problemOf({ ...people, kind: 'line_crossed', line: [[0, 0]] })).toBe('line');
  expect(problemOf({ ...emptyDraft, kind: 'task_ended', statuses: [] })).toBe('statuses');
  expect(problemOf({ ...emptyDraft, kind: 'source_down' })).toBeUndefined();
});

test('a number that the service refuses is named, and none of another kind', () => {
  const people = { ...emptyDraft, labels: ['person'] };
  const forS = (kind: RuleKind, value: number) => ({ ...people, kind, forS: { ...people.forS, [kind]: value } });
  const refused = [
    forS('object_present', 3601),
    forS('object_absent', 9.9),
    forS('source_down', NaN),
    { ...people, clearS: 0 },
    { ...people, minCount: 1.5 },
    { ...people, intervalS: 86_401 },
  ];
  for (const draft of refused) expect(problemOf(draft)).toBe('number');
  const taken = [
    forS('object_present', 0.5),
    forS('source_down', 3600),
    { ...forS('object_present', NaN), kind: 'object_absent' as const },
    { ...people, kind: 'object_absent' as const, minCount: 0, clearS: 0 },
    { ...people, minCount: 1000, intervalS: 0 },
  ];
  for (const draft of taken) expect(problemOf(draft)).toBeUndefined();
});

test('a rule is bound to the name of its task where it has one', () => {
  const task = { taskId: 'a', clientRef: 'yard' };
  expect(scopeOf(emptyDraft, task, undefined)).toEqual({ client_refs: ['yard'] });
  expect(scopeOf(emptyDraft, { ...task, clientRef: undefined }, undefined)).toEqual({ task_ids: ['a'] });
  expect(scopeOf({ ...emptyDraft, binding: 'all' }, task, undefined)).toBeUndefined();
  // A rule without a scope would apply to every task.
  for (const binding of ['ref', 'task', 'open'] as const) {
    expect(() => scopeOf({ ...emptyDraft, binding }, undefined, undefined)).toThrow();
  }
  const stored = { client_refs: ['a', 'b'] };
  expect(scopeOf({ ...emptyDraft, binding: 'stored' }, task, stored)).toBe(stored);
});

test('any name becomes an identifier that the service takes', () => {
  for (const name of ['Yard at night', '', '<b>', 'Überall ✓', 'x'.repeat(100)]) {
    expect(ruleIdOf(name, '0a1b2c3d')).toMatch(/^[a-z0-9][a-z0-9_-]{0,63}$/);
  }
});

test('the words of a rule say where in the image', () => {
  const words = (changes: Partial<RuleDraft>) => whenText(whenOf({ ...emptyDraft, labels: ['person'], ...changes }));
  const everywhere = words({});
  expect(everywhere).not.toMatch(/half|part/);
  expect(words({ isPart: true, region: HALVES.left })).toContain(', in the left half, for 1 s');
  expect(words({ isPart: true })).toContain(', in a part of the image, for 1 s');
});

test('a label that turns its writing does not turn the sentence around it', () => {
  const when = whenOf({ ...emptyDraft, labels: ['\u202egnitirw'] });
  expect(whenText(when)).toBe('objects appear: \u2068\u202egnitirw\u2069, for 1 s');
});
