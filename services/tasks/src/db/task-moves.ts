import type { Knex } from 'knex';

interface MoveRow {
  task_id: string;
  version: number;
  from_status: string;
  to_status: string;
  move: string;
  actor: string;
  note: string | null;
  at: Date;
}

/** What an operator said about a task, if one did. */
export async function findVerification(db: Knex, taskId: string): Promise<string | undefined> {
  const row = await db<MoveRow>('task_moves')
    .where({ task_id: taskId })
    .whereIn('move', ['verify_created', 'verify_not_created'])
    .first('move');
  return row?.move;
}
