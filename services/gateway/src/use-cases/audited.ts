import type { Knex } from 'knex';
import { AppError } from '@vision/contracts/errors';
import { appendAudit, finishAudit } from '../db/audit-log.ts';
import type { Act } from '../domain/audit.ts';

/** Performs an act in another service: recorded before the request, completed with its outcome. */
export async function audited<T>(db: Knex, act: Act, perform: () => Promise<T>): Promise<T> {
  const id = await appendAudit(db, act, 'pending');
  try {
    const result = await perform();
    await finishAudit(db, id, 'done');
    return result;
  } catch (error) {
    await finishAudit(db, id, error instanceof AppError ? `refused: ${error.reason}` : 'failed').catch(() => undefined);
    throw error;
  }
}
