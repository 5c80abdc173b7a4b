import { until } from '@vision/shared/testing/until';
import { admin } from '../support/system.ts';
import { inLanes } from './invariants/checks.ts';
import type { State } from './state.ts';
import { taskIdOf } from './workload.ts';

/** Longest time from the last fault to a quiet system; longer counts as a breach of liveness. */
const QUIET_MS = 180_000;

/** Plays the operator for tasks of unknown outcome and waits until nothing is under way any more. */
export async function settle(state: State): Promise<void> {
  await until(
    async () => {
      await verifyUnknown(state);
      const busy = await underWay(state);
      if (busy.length > 0) throw new Error(busy.join('; '));
      return true;
    },
    { timeoutMs: QUIET_MS, intervalMs: 500 },
  );
}

/** Stops the live streams of the real workers, whose places are few. */
export async function stopRealStreams({ workload }: State): Promise<void> {
  const streams = workload.creates.filter(({ kind }) => kind === 'real stream');
  await inLanes(streams, async (create) => {
    const id = taskIdOf(create);
    if (id !== undefined) await workload.stop(create.caller, id);
  });
}

/** Owners repeat a deletion that was not answered, as nobody knows else whether the task is gone. */
export async function finishDeletions({ workload }: State): Promise<void> {
  // A short run may have deleted nothing; image calls have always ended.
  const call = workload.creates.find((create) => create.kind === 'images' && taskIdOf(create));
  if (workload.deletions.size === 0 && call) await workload.remove(taskIdOf(call) ?? '', call);
  const open = [...workload.deletions].filter(([, { answeredAt }]) => answeredAt === undefined);
  await inLanes(open, ([taskId, { create }]) =>
    until(async () => (await workload.remove(taskId, create))?.status === 202, {
      timeoutMs: QUIET_MS,
      intervalMs: 500,
    }),
  );
}

/** Stops every task that still runs, as their owners would. */
export async function stopEverything(state: State): Promise<void> {
  const running = await state.stores.query<{ task_id: string; subject: string }>(
    'tasks',
    `select task_id, subject from tasks where status in ('running', 'stopping')`,
  );
  const callers = new Map(state.workload.creates.map(({ caller }) => [caller.subject, caller]));
  await inLanes(running, async ({ task_id, subject }) => {
    const caller = callers.get(subject);
    if (caller) await state.workload.stop(caller, task_id);
  });
  await until(
    async () => {
      const left = await state.stores.query<{ task_id: string; status: string }>(
        'tasks',
        `select task_id, status from tasks where status in ('running', 'stopping')`,
      );
      if (left.length > 0) throw new Error(left.map(({ task_id: id, status }) => `${id} is ${status}`).join('; '));
      return true;
    },
    { timeoutMs: QUIET_MS, intervalMs: 500 },
  );
}

/** The operator looks into the backend: a job that is there was created, one that is not was not. */
async function verifyUnknown({ world, stores }: State): Promise<void> {
  const { body } = await admin('GET', '/admin/v1/tasks?status=resolving');
  for (const { task_id: id } of (body['items'] ?? []) as { task_id: string }[]) {
    const real = await stores.query('inference', 'select 1 from jobs where job_id = $1 and scene_code is not null', [
      id,
    ]);
    const job = world.scripted.jobs.get(id);
    // A backend also remembers ids that it was only told to stop.
    const outcome = real.length > 0 || (job && job.request.scene_code !== '') ? 'created' : 'not_created';
    await admin('POST', `/admin/v1/tasks/${id}/verification`, { outcome, note: 'fault suite' });
  }
}

async function underWay({ stores }: State): Promise<string[]> {
  const counts = await Promise.all([
    count(
      'tasks',
      `select count(*)::int as n from tasks where status in ('draft', 'admitted', 'undoing', 'submitting', 'resolving')`,
    ),
    count('tasks', 'select count(*)::int as n from deleted_tasks where confirmed_at is null'),
    count('images', `select count(*)::int as n from idempotency_keys where state <> 'done'`),
    count('inference', `select count(*)::int as n from jobs where status = 'stopping'`),
    ...['tasks', 'images', 'results'].map((service) =>
      count(service, 'select count(*)::int as n from outbox where published_at is null'),
    ),
  ]);
  return counts.flat();

  async function count(service: string, sql: string): Promise<string[]> {
    const [row] = await stores.query<{ n: number }>(service, sql);
    return row && row.n > 0 ? [`${service}: ${row.n} of "${sql}"`] : [];
  }
}
