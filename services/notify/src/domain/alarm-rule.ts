import type { RuleSchedule, RuleScope, RuleWhen } from '@vision/contracts/alarm-rules';
import { ruleChanged } from '@vision/contracts/rule-events';
import type { RuleSnapshot } from '@vision/contracts/rule-events';
import { fail } from '@vision/contracts/errors';

/** Changes of rules of a subject within a minute, deletions included: more than all of its rules by default. */
export const RULE_CHANGES_PER_MINUTE = 300;

/** What the evaluation of a rule depends on. A change of it is a new version. */
export interface RuleDefinition {
  enabled: boolean;
  scope?: RuleScope | undefined;
  when: RuleWhen;
  schedule?: RuleSchedule | undefined;
  min_interval_ms: number;
}

/** What a subject says about a rule. */
export interface GivenRule extends RuleDefinition {
  name: string;
}

/** A rule that is stored. */
export interface StoredRule {
  subject: string;
  rule_id: string;
  version: number;
  name: string;
  /** JSON of a `RuleDefinition`. */
  definition: string;
  created_at: Date;
  updated_at: Date;
  /** A deleted rule stays for a while, so that the numbers of its versions go on. */
  deleted_at: Date | null;
}

/** The definition as it is stored: the same definition is the same text, in any order of fields. */
export const definitionText = ({ enabled, scope, when, schedule, min_interval_ms }: RuleDefinition): string =>
  JSON.stringify({ enabled, scope, when, schedule, min_interval_ms } satisfies RuleDefinition);

/** Stands for the definition of a rule that is only known to be none any more. */
export const UNKNOWN_DEFINITION = definitionText({
  enabled: false,
  when: { kind: 'task_ended', statuses: ['failed'] },
  min_interval_ms: 0,
});

export const definitionOf = ({ definition }: StoredRule) => JSON.parse(definition) as RuleDefinition;

/** The event that tells the service that evaluates rules how one is. */
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
