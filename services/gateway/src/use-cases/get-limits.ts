import type { SubjectLimits } from '@vision/contracts/limits';
import { readOverrides } from '../db/settings.ts';
import { effectiveLimits } from '../domain/limits.ts';
import type { Deps } from './deps.ts';

/** The limits of a subject, known or not. */
export async function getLimits({ db }: Pick<Deps, 'db'>, subject: string): Promise<SubjectLimits> {
  return effectiveLimits(await readOverrides(db, subject));
}
