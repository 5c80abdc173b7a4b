import { signal } from '@preact/signals';

const whole = { kind: '', status: '', scene_code: '' };

/** What the viewer chose of the list of tasks. It outlives the page, so that the way back from a task leads there. */
export const taskFilter = signal(whole);
export const taskCursor = signal('');

/** The list begins anew: for the next viewer, and for who asks for it from anywhere else. */
export function forgetTaskList(): void {
  taskFilter.value = whole;
  taskCursor.value = '';
}
