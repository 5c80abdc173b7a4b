import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import type { AlarmRule, Scene } from '@vision/client';
import { short } from '../lib/format.ts';
import { draftOf, emptyDraft, isAboutObjects, conditionsOf, problemOf, ruleIdOf, scopeOf } from '../lib/rule-draft.ts';
import type { DraftProblem, RuleDraft } from '../lib/rule-draft.ts';
import { bindingFor, taskFor } from '../lib/rule-task.ts';
import { hrefOf } from '../lib/route.ts';
import { dataOf } from '../state/data.ts';
import { newRequestKey } from '../state/request-key.ts';
import { useScene } from '../state/scenes.ts';
import { useSession } from '../state/session.ts';
import { useAction } from '../state/use-action.ts';
import { taskName, useTasks } from '../state/use-tasks.ts';
import type { TaskEntry } from '../state/use-tasks.ts';
import type { Loaded } from '../state/use-loaded.ts';
import { t } from '../strings.ts';
import type { Source } from '../task/task-view.ts';
import { ruleNow } from './switch-rule.ts';
import { useSource } from './use-source.ts';

/** State that the parts of the rule page share. */
export interface RuleEditor {
  /** The rule being edited; undefined for a new one. */
  rule: AlarmRule | undefined;
  draft: RuleDraft;
  change: (changes: Partial<RuleDraft>) => void;
  tasks: Loaded<TaskEntry[]>;
  /** The task that the rule is drawn and tested on. */
  task: TaskEntry | undefined;
  chooseTask: (taskId: string) => void;
  /** Loading state of the task's source; undefined without a task. */
  source: Loaded<Source | undefined>;
  scene: Scene | undefined;
  labels: string[];
  name: string;
  problem: DraftProblem | undefined;
  /** A moment of a video that the viewer chose, in milliseconds. */
  moment: Signal<number>;
}

/** State of a rule being created or edited. */
export function useRuleEditor(rule: AlarmRule | undefined, wantedTaskId: string | undefined): RuleEditor {
  const form = useSignal<RuleDraft>(rule ? draftOf(rule) : emptyDraft);
  const hasChosenLabels = useSignal(rule !== undefined);
  const wanted = wantedTaskId ?? rule?.scope?.task_ids?.[0];
  const tasks = useTasks(wanted);
  const taskId = useSignal(wanted ?? '');
  const moment = useSignal(0);
  const ref = rule?.scope?.client_refs?.[0];
  const found = tasks.value.value;
  const task = taskFor(found ?? [], { taskId: taskId.value, ref });
  const hasNone = found?.length === 0 && wanted === undefined;
  const source = useSource(task);
  const scene = useScene(task?.scene_code);
  const draft = {
    ...form.value,
    binding: bindingFor(form.value.binding, task, hasNone),
    // A new rule begins with the first label of the scene; the form shows it.
    ...(hasChosenLabels.value ? {} : { labels: scene?.labels.slice(0, 1) ?? [] }),
  };
  const labels = [...new Set([...(scene?.labels ?? []), ...draft.labels])];
  const change = (changes: Partial<RuleDraft>) => {
    if (changes.labels) hasChosenLabels.value = true;
    form.value = { ...form.value, ...changes };
  };
  return {
    rule,
    draft,
    change,
    tasks,
    task,
    chooseTask: (next) => {
      taskId.value = next;
      moment.value = 0;
    },
    source,
    scene,
    labels,
    name: draft.name ?? suggestedName(draft, task),
    problem: problemOf(draft),
    moment,
  };
}

/** A default name that describes the rule. */
function suggestedName({ kind, labels }: RuleDraft, task: TaskEntry | undefined): string {
  const what = isAboutObjects(kind) && labels.length > 0 ? labels.slice(0, 3).join(', ') : t.rule.kinds[kind];
  return short(t.rule.suggested(what, task ? taskName(task) : ''), 100);
}

/** Saves and deletes the rule. `onGone` runs when the rule was deleted elsewhere; a save would create it again. */
export function useRuleCalls({ rule, draft, task, name }: RuleEditor, onGone: () => void) {
  const { client } = useSession();
  const { run, ...action } = useAction();
  const newId = useSignal('');
  const leave = () => (location.hash = hrefOf({ page: 'alarms' }));
  const save = () =>
    run(async () => {
      // A retry after a lost response stores the same rule, not a second one.
      if (newId.value === '') newId.value = ruleIdOf(name, newRequestKey());
      const now = rule && (await ruleNow(client, rule.rule_id));
      if (rule && !now) {
        onGone();
        return;
      }
      const bound = task && { taskId: task.task_id, clientRef: task.client_ref };
      const scope = scopeOf(draft, bound, rule?.scope);
      const body = { name, enabled: now?.enabled ?? true, ...conditionsOf(draft), ...(scope ? { scope } : {}) };
      const params = { path: { rule_id: rule?.rule_id ?? newId.value } };
      dataOf(await client.api.PUT('/v1/vision/alarm-rules/{rule_id}', { params, body }));
      leave();
    });
  const remove = () =>
    run(async () => {
      const params = { path: { rule_id: rule?.rule_id ?? '' } };
      const { error } = await client.api.DELETE('/v1/vision/alarm-rules/{rule_id}', { params });
      if (error) dataOf({ error });
      leave();
    });
  return { ...action, save, remove };
}
