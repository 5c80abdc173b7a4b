import { expect, test } from '@jest/globals';
import { reservationIdOf, tasksOfReservations } from './reservation-id.ts';

const taskId = '01a2269f-8e8c-709d-a591-cb8b11043802';

test('a reservation names its task, and ids of another form name none', () => {
  const ids = [reservationIdOf(taskId, 1), 'a/1', '', `${taskId}x/1`, "';drop table tasks/1"];
  expect(tasksOfReservations(ids)).toEqual([taskId]);
});
