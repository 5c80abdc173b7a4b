import { getTaskHistory } from '@vision/contracts/history';
import type { Happening, TaskHistory } from '@vision/contracts/history';
import { asAppError, fail } from '@vision/contracts/errors';
import type { Owner } from '@vision/contracts/public-operations';
import { selectAuditOf } from '../db/audit-log.ts';
import { OPERATOR } from '../domain/audit.ts';
import type { Deps } from './deps.ts';

const KNOWERS = ['tasks', 'images', 'results', 'quota'] as const;

export interface ShownTask {
  task_id: string;
  /** Facts of the task, by the service that has them. */
  facts: Partial<Record<Owner, TaskHistory['facts']>>;
  /** Events of the task in all services, by time. */
  timeline: (Happening & { source: string })[];
  /** Services that did not answer. */
  unreachable: string[];
}

/**
 * Facts of all services about a task or image call, and acts of operators on it, in one timeline.
 * @throws AppError not_found when every service answered and none knows it.
 */
export async function showTask(
  { db, owners, logger }: Pick<Deps, 'db' | 'owners' | 'logger'>,
  taskId: string,
  signal: AbortSignal,
): Promise<ShownTask> {
  const [told, acts] = await Promise.all([
    Promise.all(KNOWERS.map((service) => askOne({ owners, logger }, { service, taskId, signal }))),
    askAuditLog({ db, logger }, taskId),
  ]);
  const silent = told.flatMap(({ service, history }) => (history === 'unreachable' ? [service] : []));
  const known = told.flatMap(({ service, history }) =>
    history === undefined || history === 'unreachable' ? [] : [{ service, ...history }],
  );
  if (known.length === 0 && silent.length === 0) throw taskUnknown();
  const timeline = [
    ...known.flatMap(({ service, happenings }) => happenings.map((one) => ({ ...one, source: service }))),
    ...(acts ?? []).map(({ at, action, actor, result, details }) => ({
      at: at.toISOString(),
      what: `operator: ${action}`,
      details: { ...details, actor, result },
      source: 'gateway',
    })),
  ];
  return {
    task_id: taskId,
    facts: Object.fromEntries(known.map(({ service, facts }) => [service, facts])),
    timeline: timeline.toSorted((a, b) => a.at.localeCompare(b.at)),
    unreachable: acts ? silent : [...silent, 'gateway'],
  };
}

export const taskUnknown = () => fail.notFound('There is no such task.', 'task_not_found');

async function askOne(
  { owners, logger }: Pick<Deps, 'owners' | 'logger'>,
  { service, taskId, signal }: { service: Owner; taskId: string; signal: AbortSignal },
): Promise<{ service: Owner; history: TaskHistory | 'unreachable' | undefined }> {
  try {
    const asking = { subject: OPERATOR, params: { task_id: taskId }, signal };
    return { service, history: await owners[service].ask(getTaskHistory, asking) };
  } catch (error) {
    if (asAppError(error)?.kind === 'not_found') return { service, history: undefined };
    logger.warn({ err: error, upstream: { name: service }, task_id: taskId }, 'service did not respond about a task');
    return { service, history: 'unreachable' };
  }
}

/** Acts of operators on the task; undefined while the database of this service is unavailable. */
async function askAuditLog({ db, logger }: Pick<Deps, 'db' | 'logger'>, taskId: string) {
  try {
    return await selectAuditOf(db, taskId);
  } catch (error) {
    logger.warn({ err: error, task_id: taskId }, 'audit log did not respond about a task');
    return undefined;
  }
}
