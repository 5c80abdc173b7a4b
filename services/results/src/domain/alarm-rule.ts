import { createHash } from 'node:crypto';
import type { RuleScope } from '@vision/contracts/alarm-rules';
import type { RuleSnapshot } from '@vision/contracts/rule-events';
import type { TaskRule } from './fold/active-rule.ts';

/** A rule of a subject as it is stored. */
export interface StoredRule {
  rule: RuleSnapshot;
  /** When this version was stored here, Unix milliseconds. */
  storedMs: number;
}

/** Facts of a task that decide which rules apply to it. */
export interface ScopedTask {
  taskId: string;
  clientRef: string | null;
}

/** Returns those of the active rules of a subject that apply to its task, in the order of their names. */
export const rulesFor = (stored: readonly StoredRule[], task: ScopedTask): TaskRule[] =>
  stored
    .filter(({ rule }) => isIn(rule.scope, task))
    .map(({ rule, storedMs }) => ({
      id: rule.rule_id,
      version: rule.version,
      when: rule.when,
      minIntervalMs: rule.min_interval_ms,
      schedule: rule.schedule,
      storedMs,
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));

function isIn(scope: RuleScope | undefined, { taskId, clientRef }: ScopedTask): boolean {
  if (!scope) return true;
  const { client_refs: refs = [], task_ids: ids = [] } = scope;
  return ids.includes(taskId) || (clientRef !== null && refs.includes(clientRef));
}

/** A number that identifies these versions of rules; 0 for none, positive otherwise. */
export function ruleSetOf(rules: readonly Pick<TaskRule, 'id' | 'version'>[]): number {
  if (rules.length === 0) return 0;
  const names = rules.map(({ id, version }) => `${id}/${version}`);
  // Six bytes are whole numbers in JavaScript and in PostgreSQL.
  return createHash('sha256').update(names.join()).digest().readUIntBE(0, 6) + 1;
}
