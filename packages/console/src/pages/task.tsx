import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Filters } from '../components/filters.tsx';
import { Copyable, Notice, TroubleNotice } from '../components/notice.tsx';
import { ObjectTable } from '../components/object-table.tsx';
import { Page } from '../components/page.tsx';
import { StatusText } from '../components/status.tsx';
import type { Shown } from '../lib/boxes.ts';
import { inUtc, isolated, moment, short } from '../lib/format.ts';
import { hrefOf } from '../lib/route.ts';
import { useAnswered } from '../state/use-loaded.ts';
import { taskName, useTasks } from '../state/use-tasks.ts';
import { SourcePanel } from '../task/source-panel.tsx';
import { Stage } from '../task/stage.tsx';
import { StopButton } from '../task/stop-button.tsx';
import { useTaskView } from '../task/task-view.ts';
import type { TaskView } from '../task/task-view.ts';
import { TimelinePanel } from '../task/timeline.tsx';
import { TrackList } from '../task/track-list.tsx';
import { t } from '../strings.ts';

/** One video task: what it sees, what it saw, and how its source is. */
export function TaskPage({ taskId }: { taskId: string }): JSX.Element {
  const view = useTaskView(taskId);
  // A task alone does not tell its name; the newest ones in the list do.
  const named = useTasks(undefined).value.value?.find(({ task_id: id }) => id === taskId);
  const task = view.task.value.value;
  const trouble = view.task.trouble.value;
  // What was seen waits for the reason of a failure, which stands above it; otherwise it would jump.
  const hasSource = useAnswered(view.source);
  const isExplained = hasSource || task?.status !== 'failed';
  const isMissing = trouble?.reason === 'task_not_found' && !task;
  const title = t.task.title(isolated(short(taskName(named ?? { task_id: taskId }), 40)));
  return (
    <Page title={title} actions={<Actions view={view} />}>
      {isMissing ? <Notice kind="info" title={t.task.missingTask} /> : <TroubleNotice trouble={trouble} />}
      {isMissing ? null : (
        <>
          <TaskFacts view={view} />
          {task?.status === 'resolving' ? (
            <Notice kind="info" title={t.task.resolvingTitle}>
              <p>{t.task.resolving}</p>
            </Notice>
          ) : null}
          <Failure view={view} />
          {isExplained ? <Seen view={view} /> : null}
        </>
      )}
    </Page>
  );
}

/** What its frames show, and how their source is. */
function Seen({ view }: { view: TaskView }): JSX.Element {
  return (
    <>
      <div class="task">
        <div class="task-stage">
          <Stage view={view} />
          <TimelinePanel view={view} />
        </div>
        <aside class="task-side" aria-label={t.filters.title}>
          <Filters minScore={view.minScore} hidden={view.hidden} labels={view.labels.value} lowest={view.lowest} />
          <InView view={view} />
        </aside>
      </div>
      <TrackList view={view} />
      <SourcePanel view={view} />
    </>
  );
}

function Actions({ view }: { view: TaskView }): JSX.Element {
  return (
    <>
      <a class="button" href={hrefOf({ page: 'new-rule-of', taskId: view.taskId })}>
        {t.task.newRule}
      </a>
      <StopButton view={view} />
      <a class="button" href={hrefOf({ page: 'tasks' })}>
        {t.back}
      </a>
    </>
  );
}

function TaskFacts({ view }: { view: TaskView }): JSX.Element {
  const task = view.task.value.value;
  return (
    <dl class="facts task-facts">
      <div>
        <dt>{t.tasks.status}</dt>
        <dd>{task ? <StatusText status={task.status} /> : '–'}</dd>
      </div>
      <div>
        <dt>{t.task.scene}</dt>
        <dd>
          <bdi>{view.scene?.name ?? task?.scene_code ?? '–'}</bdi>
        </dd>
      </div>
      <div>
        <dt>{t.task.created}</dt>
        <dd title={task ? inUtc(task.created_at) : undefined}>{task ? moment(task.created_at) : '–'}</dd>
      </div>
      <div>
        <dt>{t.task.expires}</dt>
        <dd title={task ? inUtc(task.result_expires_at) : undefined}>{task ? moment(task.result_expires_at) : '–'}</dd>
      </div>
      <div>
        <dt class="hidden">{t.task.id}</dt>
        <dd>
          <Copyable name={t.task.id} text={view.taskId} />
        </dd>
      </div>
    </dl>
  );
}

/** Why a task failed, and what its caller can do. */
function Failure({ view }: { view: TaskView }): JSX.Element | null {
  const { ended } = view.source.value.value ?? {};
  if (ended?.status !== 'failed' && ended?.status !== 'refunded') return null;
  return (
    <Notice kind="fault" title={t.failure[ended.status]}>
      {ended.reason ? <p>{t.failure.reason(t.source.reasons[ended.reason])}</p> : null}
      {ended.advice === undefined ? null : <p>{ended.advice}</p>}
      <p class="dim">{t.failure.support}</p>
      <Copyable name={t.trouble.traceId} text={view.traceId.value} />
    </Notice>
  );
}

const TABLE_EVERY_MS = 500;

/** The objects of the moment, in words; calm enough to be read while a video plays. */
function InView({ view }: { view: TaskView }): JSX.Element {
  const listed = useSignal<readonly Shown[]>([]);
  useEffect(() => {
    const list = () => (listed.value = view.shown.peek());
    list();
    const timer = setInterval(list, TABLE_EVERY_MS);
    return () => clearInterval(timer);
  }, [view.shown]);
  return (
    <div class="in-view">
      <ObjectTable caption={t.objects.inView} objects={listed.value} empty={t.objects.none} most={20} />
    </div>
  );
}
