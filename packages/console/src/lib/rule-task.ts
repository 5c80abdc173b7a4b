import type { Binding } from './rule-draft.ts';

interface Task {
  task_id: string;
  client_ref?: string | undefined;
}

interface Wanted {
  /** The task that the viewer, the address or the rule names; empty for none. */
  taskId: string;
  /** The name of the tasks that the rule applies to. */
  ref: string | undefined;
}

/** The task that a rule is drawn on. Another one takes the place of none that was named. */
export function taskFor<T extends Task>(found: readonly T[], { taskId, ref }: Wanted): T | undefined {
  return (
    found.find((one) => one.task_id === taskId) ??
    found.find((one) => ref !== undefined && one.client_ref === ref) ??
    (taskId === '' ? found[0] : undefined)
  );
}

/**
 * The tasks that a rule applies to, as far as the viewer chose them or there is no choice. While tasks are not known,
 * or the named one is gone, nothing is chosen: the rule would apply to more of them than its viewer wants.
 */
export function bindingFor(chosen: Binding, task: Task | undefined, hasNone: boolean): Binding {
  if (chosen === 'stored' || chosen === 'all') return chosen;
  if (task) return task.client_ref === undefined ? 'task' : chosen;
  return hasNone ? 'all' : 'open';
}
