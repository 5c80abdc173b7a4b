import type { JSX } from 'preact';
import { Choice } from '../components/fields.tsx';
import { Notice, TroubleNotice } from '../components/notice.tsx';
import { isolated, moment, short } from '../lib/format.ts';
import { hrefOf } from '../lib/route.ts';
import type { Binding } from '../lib/rule-draft.ts';
import { taskName } from '../state/use-tasks.ts';
import { t } from '../strings.ts';
import type { RuleEditor } from './rule-editor.ts';
import { scopeText } from './rule-words.ts';

/** Step 1: the task that the rule is drawn on, and the tasks that it applies to. */
export function RuleWhere({ editor }: { editor: RuleEditor }): JSX.Element {
  const { tasks, task, draft, change, chooseTask } = editor;
  const bindings = bindingsOf(editor);
  const found = tasks.value.value;
  const isGone = found !== undefined && found.length > 0 && !task;
  return (
    <section class="panel" aria-labelledby="where">
      <h2 id="where">{t.rule.step(1, t.rule.steps.where)}</h2>
      <TroubleNotice trouble={tasks.trouble.value} onRetry={tasks.reload} />
      {found?.length === 0 ? (
        <Notice kind="info" title={t.rule.noTasks}>
          <p class="row">
            <a href={hrefOf({ page: 'new-stream' })}>{t.tasks.newStream}</a>
            <a href={hrefOf({ page: 'new-upload' })}>{t.tasks.newUpload}</a>
          </p>
        </Notice>
      ) : null}
      <div class="pair">
        {found?.length === 0 ? null : (
          <Choice
            name={t.rule.task}
            value={task?.task_id ?? ''}
            isDisabled={found === undefined}
            options={tasksOf(editor)}
            onChange={chooseTask}
          />
        )}
        <Choice
          name={t.rule.applies}
          value={draft.binding}
          options={bindings}
          onChange={(next) => change({ binding: next as Binding })}
        />
      </div>
      {task ? <p class="hint">{t.rule.taskHint}</p> : null}
      {isGone ? <p class="hint">{t.rule.taskGone}</p> : null}
    </section>
  );
}

function tasksOf({ tasks, task }: RuleEditor): { value: string; text: string }[] {
  const options = (tasks.value.value ?? []).map((one) => ({
    value: one.task_id,
    text: `${isolated(short(taskName(one), 40))} · ${t.tasks.statuses[one.status]} · ${moment(one.created_at)}`,
  }));
  return task ? options : [{ value: '', text: t.rule.chooseTask }, ...options];
}

function bindingsOf({ rule, task, draft }: RuleEditor): { value: Binding; text: string }[] {
  const texts = t.rule.bindings;
  return [
    ...(draft.binding === 'open' ? [{ value: 'open' as const, text: texts.open }] : []),
    ...(rule ? [{ value: 'stored' as const, text: texts.stored(scopeText(rule.scope)) }] : []),
    ...(task?.client_ref === undefined
      ? []
      : [{ value: 'ref' as const, text: texts.ref(isolated(short(task.client_ref, 40))) }]),
    ...(task ? [{ value: 'task' as const, text: texts.task }] : []),
    { value: 'all', text: texts.all },
  ];
}
