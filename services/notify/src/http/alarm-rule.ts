import { z } from 'zod';
import { exampleWhen, ruleInterval, ruleSchedule, ruleScope, ruleWhen } from '@vision/contracts/alarm-rules';
import { ownName } from '@vision/contracts/ids';
import { storedText } from '@vision/contracts/stored-text';
import { definitionOf } from '../domain/alarm-rule.ts';
import type { StoredRule } from '../domain/alarm-rule.ts';
import { verdicts } from '../domain/alarm.ts';

const parts = {
  enabled: z.boolean().default(true).describe('Whether the rule raises alarms'),
  scope: ruleScope.optional(),
  when: ruleWhen,
  schedule: ruleSchedule.optional(),
  min_interval_ms: ruleInterval,
};

export const newAlarmRule = z
  .strictObject({ name: storedText(100).min(1).describe('Name to show, at most 100 characters'), ...parts })
  .meta({ id: 'NewAlarmRule' });

/** Reasons for invalid values, by the field of the body. */
export const ruleReasons = {
  scope: 'rule_invalid',
  when: 'rule_invalid',
  schedule: 'rule_invalid',
  min_interval_ms: 'rule_invalid',
} as const;

export const alarmRule = z
  .object({
    rule_id: ownName.describe('Your own name of the rule'),
    version: z
      .int()
      .meta({ format: 'int64' })
      .describe('Version of what is judged; it grows with every change but one of `name`'),
    name: z.string(),
    ...parts,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'AlarmRule', description: 'Rule that raises alarms' });

const [none, confirmed, falseAlarm] = verdicts;

export const ruleWithVerdicts = alarmRule
  .extend({
    verdicts: z
      .object({
        [none]: z.int().describe('Alarms without a review'),
        [confirmed]: z.int().describe('Alarms that were rightly raised'),
        [falseAlarm]: z.int().describe('Alarms that were wrongly raised'),
      })
      .meta({ id: 'AlarmVerdicts', description: 'Alarms of the last 7 days by their verdict' }),
  })
  .meta({ id: 'AlarmRuleWithVerdicts', description: 'Rule that raises alarms, and how often it was right' });

export const exampleNewRule: z.output<typeof newAlarmRule> = {
  name: 'Yard at night',
  enabled: true,
  scope: { client_refs: ['yard-north'] },
  when: exampleWhen,
  schedule: {
    time_zone: 'Europe/Berlin',
    windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '18:00', to: '06:00' }],
  },
  min_interval_ms: 60_000,
};

export const exampleRule: z.infer<typeof alarmRule> = {
  rule_id: 'yard-at-night',
  version: 1_773_500_000,
  ...exampleNewRule,
  created_at: '2026-03-14T14:53:20.000Z',
  updated_at: '2026-03-14T14:53:20.000Z',
};

/** A rule in the form for its subject. */
export function ruleBody(rule: StoredRule): z.infer<typeof alarmRule> {
  const { rule_id, version, name, created_at, updated_at } = rule;
  return {
    rule_id,
    version,
    name,
    ...definitionOf(rule),
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
