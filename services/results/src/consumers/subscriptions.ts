import type { Knex } from 'knex';
import { taskChanged } from '@vision/shared/contracts/task-events';
import { on } from '@vision/shared/messaging/subscription';
import type { Subscription } from '@vision/shared/messaging/subscription';
import { saveTaskView } from '../db/task-views.ts';

/** The newest version of a snapshot wins, so order and repeats do not matter. */
export function subscriptions({ db }: { db: Knex }): Subscription[] {
  return [on(taskChanged, (event) => saveTaskView(db, event.data))];
}
