import type { Knex } from 'knex';
import type { Happening } from '@vision/contracts/history';

interface MoveRow {
  task_id: string;
  version: number;
  attempt: number;
  from_status: string;
  to_status: string;
  move: string;
  actor: string;
  note: string | null;
  at: Date;
}

/** The note of the operator, if one caused the move. */
export async function findVerification(db: Knex, taskId: string): Promise<string | undefined> {
  const row = await db<MoveRow>('task_moves')
    .where({ task_id: taskId })
    .whereIn('move', ['verify_created', 'verify_not_created'])
    .first('move');
  return row?.move;
}

/** Every move of a task, oldest first. */
export async function findMoves(db: Knex, taskId: string): Promise<Happening[]> {
  const rows = await db<MoveRow>('task_moves').where({ task_id: taskId }).orderBy('version').select();
  return rows.map(({ at, move, version, attempt, from_status: from, to_status: to, actor, note }) => ({
    at: at.toISOString(),
    what: `${move}: ${from} → ${to}`,
    details: { actor, note: note ?? undefined, version, attempt },
  }));
}
