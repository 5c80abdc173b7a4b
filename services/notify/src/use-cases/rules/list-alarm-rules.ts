import { listRules } from '../../db/alarm-rules.ts';
import type { StoredRule } from '../../domain/alarm-rule.ts';
import type { Deps } from '../deps.ts';

/** All rules of a subject, by their names. Their number is limited, so there are no pages. */
export async function listAlarmRules({ db }: Pick<Deps, 'db'>, subject: string): Promise<StoredRule[]> {
  return listRules(db, subject);
}
