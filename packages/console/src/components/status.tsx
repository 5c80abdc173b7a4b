import type { TaskStatus } from '@vision/client';
import type { JSX } from 'preact';
import { t } from '../strings.ts';

const FAULTS: readonly TaskStatus[] = ['failed'];
const ACTIVE: readonly TaskStatus[] = ['submitting', 'resolving', 'running', 'stopping'];

/** A status in words; its mark repeats what the words say. */
export function StatusText({ status }: { status: TaskStatus }): JSX.Element {
  const kind = FAULTS.includes(status) ? 'fault' : ACTIVE.includes(status) ? 'active' : 'ended';
  return <span class={`status ${kind}`}>{t.tasks.statuses[status]}</span>;
}

/** Whether a task can still change. */
export const isActive = (status: TaskStatus) => ACTIVE.includes(status);
