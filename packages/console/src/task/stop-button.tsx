import type { JSX } from 'preact';
import { AskButton } from '../components/ask-button.tsx';
import { TroubleNotice } from '../components/notice.tsx';
import { missingScopes } from '../state/session.ts';
import { useAction } from '../state/use-action.ts';
import { t } from '../strings.ts';
import type { TaskView } from './task-view.ts';

/** Stops a task that runs, after a question. */
export function StopButton({ view }: { view: TaskView }): JSX.Element | null {
  const { run, isBusy: isStopping, trouble } = useAction();
  const task = view.task.value.value;
  const stop = () =>
    run(async () => {
      await view.client.stop(view.taskId);
      view.task.reload();
      view.source.reload();
    });
  if (!task || !view.isRunning || missingScopes.value.has('create')) return <TroubleNotice trouble={trouble} />;
  const isBusy = isStopping || task.status === 'stopping';
  return (
    <>
      <AskButton
        text={isBusy ? t.task.stopping : t.task.stop}
        question={t.task.stopSure}
        yes={t.task.stopYes}
        no={t.task.stopNo}
        isDanger
        isBusy={isBusy}
        onYes={stop}
      />
      <TroubleNotice trouble={trouble} />
    </>
  );
}
