import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { AskButton } from '../components/ask-button.tsx';
import { TroubleNotice } from '../components/notice.tsx';
import type { Trouble } from '../lib/trouble.ts';
import { missingScopes, noteTrouble } from '../state/session.ts';
import { t } from '../strings.ts';
import type { TaskView } from './task-view.ts';

/** Stops a task that runs, after a question. */
export function StopButton({ view }: { view: TaskView }): JSX.Element | null {
  const isStopping = useSignal(false);
  const trouble = useSignal<Trouble | undefined>(undefined);
  const task = view.task.value.value;
  const stop = async () => {
    isStopping.value = true;
    try {
      await view.client.stop(view.taskId);
      view.task.reload();
      view.source.reload();
    } catch (error) {
      trouble.value = noteTrouble(error);
    }
    isStopping.value = false;
  };
  if (!task || !view.isRunning || missingScopes.value.has('create')) return <TroubleNotice trouble={trouble.value} />;
  const isBusy = isStopping.value || task.status === 'stopping';
  return (
    <>
      <AskButton
        text={isBusy ? t.task.stopping : t.task.stop}
        question={t.task.stopSure}
        yes={t.task.stopYes}
        no={t.task.stopNo}
        isDanger
        isBusy={isBusy}
        onYes={() => void stop()}
      />
      <TroubleNotice trouble={trouble.value} />
    </>
  );
}
