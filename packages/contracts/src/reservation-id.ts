/** Id under which quota knows the units that the attempt of a task or image call takes. */
export const reservationIdOf = (taskId: string, attempt: number): string => `${taskId}/${attempt}`;

const TASK_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The tasks and image calls whose units these reservations hold; ids of another form are left out. */
export function tasksOfReservations(reservationIds: readonly string[]): string[] {
  return reservationIds.map((id) => id.split('/')[0] ?? '').filter((id) => TASK_ID.test(id));
}
