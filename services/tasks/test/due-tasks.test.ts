import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ANY_DUE } from '../src/db/jobs.ts';
import { createWorld, startTasks } from './support/system.ts';
import type { World } from './support/system.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

test('a stop of a dead replica is claimed at once, a running task a little later', async () => {
  const tasks = await startTasks(world);
  const { task_id: id } = (await tasks.create({ subject: randomUUID() })).body;
  await tasks.stop();
  // The time is the same in a whole transaction.
  const isLookedFor = (status: string, dueFor: string) =>
    world.database.db.transaction(async (tx) => {
      const check_at = tx.raw('now() - ?::interval', [dueFor]);
      await tx('tasks').where({ task_id: id }).update({ status, check_at });
      const { rows } = await tx.raw<{ rows: [{ found: boolean }] }>(`select ${ANY_DUE} as found`);
      return rows[0].found;
    });
  expect(await isLookedFor('stopping', '0 s')).toBe(true);
  expect(await isLookedFor('stopping', '-10 s')).toBe(false);
  expect(await isLookedFor('running', '1.4 s')).toBe(false);
  expect(await isLookedFor('running', '1.5 s')).toBe(true);
});
