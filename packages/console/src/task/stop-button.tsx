import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { TroubleNotice } from '../components/notice.tsx';
import type { Trouble } from '../lib/trouble.ts';
import { missingScopes, noteTrouble } from '../state/session.ts';
import { t } from '../strings.ts';
import type { TaskView } from './task-view.ts';

/** Stops a task that runs, after a question. */
export function StopButton({ view }: { view: TaskView }): JSX.Element | null {
  const state = useSignal<'idle' | 'asking' | 'stopping'>('idle');
  const trouble = useSignal<Trouble | undefined>(undefined);
  const task = view.task.value.value;
  const stop = async () => {
    state.value = 'stopping';
    try {
      await view.client.stop(view.taskId);
      view.task.reload();
      view.source.reload();
    } catch (error) {
      trouble.value = noteTrouble(error);
    }
    state.value = 'idle';
  };
  if (!task || !view.isRunning || missingScopes.value.has('create')) return <TroubleNotice trouble={trouble.value} />;
  if (state.value !== 'asking') {
    const isStopping = state.value === 'stopping' || task.status === 'stopping';
    return (
      <>
        <button type="button" disabled={isStopping} onClick={() => (state.value = 'asking')}>
          {isStopping ? t.task.stopping : t.task.stop}
        </button>
        <TroubleNotice trouble={trouble.value} />
      </>
    );
  }
  return (
    <span class="row" role="group" aria-label={t.task.stopSure}>
      <span>{t.task.stopSure}</span>
      <button type="button" class="danger" onClick={() => void stop()}>
        {t.task.stopYes}
      </button>
      <button type="button" onClick={() => (state.value = 'idle')}>
        {t.task.stopNo}
      </button>
    </span>
  );
}
