import { z } from 'zod';
import { ruleInterval, ruleSchedule, ruleScope, ruleWhen } from './alarm-rules.ts';
import { defineEvent } from './envelope.ts';
import { topics } from './topics.ts';

const ruleSnapshot = z.object({
  subject: z.string(),
  rule_id: z.string().describe('Name that the subject gave the rule'),
  version: z
    .int()
    .min(1)
    .describe('Grows with every change. A rule that is created again after its deletion continues the numbers'),
  deleted: z.boolean().describe('Whether the rule was deleted; the other fields describe it as it was'),
  enabled: z.boolean(),
  scope: ruleScope.optional().describe('Left out: all tasks of the subject, including later ones'),
  when: ruleWhen,
  min_interval_ms: ruleInterval,
  schedule: ruleSchedule.optional(),
  updated_at: z.iso.datetime(),
});

/** An alarm rule in full, at one version. The newest version wins, in any order of arrival. */
export const ruleChanged = defineEvent({
  type: 'vision.rule.changed.v1',
  topic: topics.rules,
  schema: ruleSnapshot,
  doc: {
    sentBy: 'notify',
    receivedBy: ['results'],
    summary: 'An alarm rule was created, changed or deleted: results judges its tasks by it',
    example: {
      subject: 'acme',
      rule_id: 'yard-at-night',
      version: 2,
      deleted: false,
      enabled: true,
      scope: { client_refs: ['yard-north'] },
      when: {
        kind: 'object_present',
        labels: ['person'],
        anchor: 'bottom_center',
        min_count: 1,
        for_ms: 2000,
        clear_ms: 5000,
      },
      min_interval_ms: 60_000,
      schedule: {
        time_zone: 'Europe/Berlin',
        windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '18:00', to: '06:00' }],
      },
      updated_at: '2026-03-15T08:30:00.000Z',
    },
  },
});

export type RuleSnapshot = z.infer<typeof ruleSnapshot>;
