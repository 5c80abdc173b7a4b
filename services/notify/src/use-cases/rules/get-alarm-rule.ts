import { findRule } from '../../db/alarm-rules.ts';
import { countVerdicts } from '../../db/alarms.ts';
import { ruleNotFound } from '../../domain/alarm-rule.ts';
import type { StoredRule } from '../../domain/alarm-rule.ts';
import type { Verdict } from '../../domain/alarm.ts';
import type { Deps } from '../deps.ts';

/** Days of alarms whose verdicts are part of a rule. */
const VERDICT_DAYS = 7;

/** A rule with the verdicts about its recent alarms. @throws AppError not_found. */
export async function getAlarmRule(
  { db }: Pick<Deps, 'db'>,
  { subject, ruleId }: { subject: string; ruleId: string },
): Promise<{ rule: StoredRule; verdicts: Record<Verdict, number> }> {
  const rule = await findRule(db, subject, ruleId);
  if (!rule || rule.deleted_at !== null) throw ruleNotFound();
  return { rule, verdicts: await countVerdicts(db, { subject, ruleId, days: VERDICT_DAYS }) };
}
