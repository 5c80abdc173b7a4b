import type { RuleSchedule, RuleScope, RuleWhen } from '@vision/contracts/alarm-rules';
import { ruleChanged } from '@vision/contracts/rule-events';
import type { RuleSnapshot } from '@vision/contracts/rule-events';
import { fail } from '@vision/contracts/errors';

/** Limit of rule changes of a subject per minute, deletions included: more than all of its rules by default. */
export const RULE_CHANGES_PER_MINUTE = 300;

/** Fields that affect the evaluation of a rule. A change of any is a new version. */
export interface RuleDefinition {
  enabled: boolean;
  scope?: RuleScope | undefined;
  when: RuleWhen;
  schedule?: RuleSchedule | undefined;
  min_interval_ms: number;
}

/** A rule from a request of its subject. */
export interface GivenRule extends RuleDefinition {
  name: string;
}

/** A stored rule. */
export interface StoredRule {
  subject: string;
  rule_id: string;
  version: number;
  name: string;
  /** JSON of a `RuleDefinition`. */
  definition: string;
  created_at: Date;
  updated_at: Date;
  /** A deleted rule stays for a while, so that its version numbers continue. */
  deleted_at: Date | null;
}

/** The stored form of the definition: the same definition is the same text, in any order of fields. */
export const definitionText = ({ enabled, scope, when, schedule, min_interval_ms }: RuleDefinition): string =>
  JSON.stringify({ enabled, scope, when, schedule, min_interval_ms } satisfies RuleDefinition);

/** Definition of a deleted rule whose own one is unknown. */
export const UNKNOWN_DEFINITION = definitionText({
  enabled: false,
  when: { kind: 'task_ended', statuses: ['failed'] },
  min_interval_ms: 0,
});

export const definitionOf = ({ definition }: StoredRule) => JSON.parse(definition) as RuleDefinition;

/** The event with a rule for the service that evaluates rules. */
export const ruleEvent = (rule: StoredRule) =>
  ({ ...ruleChanged, key: rule.subject, source: 'notify', data: ruleSnapshot(rule) }) as const;

function ruleSnapshot(rule: StoredRule): RuleSnapshot {
  const { subject, rule_id, version, updated_at, deleted_at } = rule;
  return {
    subject,
    rule_id,
    version,
    deleted: deleted_at !== null,
    ...definitionOf(rule),
    updated_at: updated_at.toISOString(),
  };
}

export const ruleNotFound = () => fail.notFound('There is no alarm rule of this name.', 'rule_not_found');

export const tooManyRules = (allowed: number) =>
  fail.conflict('limit_reached', `The subject has ${allowed} alarm rules, the most it may have. Delete one first.`, {
    limit: 'alarm_rules',
    allowed,
  });
