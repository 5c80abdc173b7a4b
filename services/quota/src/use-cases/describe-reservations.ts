import type { Happening, TaskHistory } from '@vision/contracts/history';
import { findReservations } from '../db/reservations.ts';
import type { ReservationRow } from '../db/reservations.ts';
import type { Deps } from './deps.ts';

/** The reservations of a task or image call, one for each attempt; undefined when there are none. */
export async function describeReservations({ db }: Pick<Deps, 'db'>, taskId: string): Promise<TaskHistory | undefined> {
  const reservations = await findReservations(db, taskId);
  if (reservations.length === 0) return undefined;
  const facts = Object.fromEntries(
    reservations.map(({ id, state, units, charged, day }) => [id, { state, units, charged, day: day ?? undefined }]),
  );
  return { facts, happenings: reservations.flatMap(happeningsOf) };
}

function happeningsOf(row: ReservationRow): Happening[] {
  const { id, kind, state, units, charged, created_at: createdAt, closed_at: closedAt } = row;
  const wasReserved = kind !== null;
  const reserved = { at: createdAt.toISOString(), what: `${units} units were reserved`, details: { id, kind } };
  const closed = { at: (closedAt ?? createdAt).toISOString(), what: `reservation ${state}`, details: { id, charged } };
  return [...(wasReserved ? [reserved] : []), ...(closedAt || !wasReserved ? [closed] : [])];
}
