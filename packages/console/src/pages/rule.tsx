import type { AlarmRule } from '@vision/client';
import type { JSX } from 'preact';
import { BacktestPanel } from '../alarms/backtest.tsx';
import { RuleArea } from '../alarms/rule-area.tsx';
import { useRuleCalls, useRuleEditor } from '../alarms/rule-editor.ts';
import type { RuleEditor } from '../alarms/rule-editor.ts';
import { RuleWhat } from '../alarms/rule-what.tsx';
import { RuleWhere } from '../alarms/rule-where.tsx';
import { ruleNow } from '../alarms/switch-rule.ts';
import { ActionButton } from '../components/action-button.tsx';
import { AskButton } from '../components/ask-button.tsx';
import { TextField } from '../components/fields.tsx';
import { Notice, TroubleNotice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { ScopeNotice } from '../components/scope-notice.tsx';
import { short } from '../lib/format.ts';
import { isAboutObjects } from '../lib/rule-draft.ts';
import { hrefOf } from '../lib/route.ts';
import { missingScopes, useSession } from '../state/session.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { t } from '../strings.ts';

const back = (
  <a class="button" href={hrefOf({ page: 'alarms' })}>
    {t.rule.back}
  </a>
);

/** A new rule, drawn on a task where the address names one. */
export function NewRulePage({ taskId }: { taskId: string | undefined }): JSX.Element {
  return (
    <Page title={t.rule.newTitle} lead={t.rule.lead} actions={back}>
      <RuleForm rule={undefined} taskId={taskId} onGone={() => undefined} />
    </Page>
  );
}

/** A rule that is there already. */
export function EditRulePage({ ruleId }: { ruleId: string }): JSX.Element {
  const { client } = useSession();
  const { value, trouble, reload } = useLoaded({
    key: ruleId,
    // Undefined would be a rule that is still loaded.
    load: async (signal) => (await ruleNow(client, ruleId, signal)) ?? null,
  });
  const rule = value.value;
  return (
    <Page title={t.rule.editTitle(short(rule?.name ?? ruleId, 60))} lead={t.rule.changed} actions={back}>
      {rule === null ? (
        <Notice kind="info" title={t.rule.missing} />
      ) : (
        <TroubleNotice trouble={trouble.value} onRetry={reload} />
      )}
      {rule ? <RuleForm rule={rule} taskId={undefined} onGone={reload} /> : null}
      {rule === undefined && !trouble.value ? <p class="dim tall">{t.loading}</p> : null}
    </Page>
  );
}

interface RuleFormProps {
  rule: AlarmRule | undefined;
  taskId: string | undefined;
  onGone: () => void;
}

function RuleForm({ rule, taskId, onGone }: RuleFormProps): JSX.Element {
  const editor = useRuleEditor(rule, taskId);
  const hasArea = isAboutObjects(editor.draft.kind);
  return (
    <div class="rule">
      <ScopeNotice scope="notify" />
      <RuleWhere editor={editor} />
      <RuleWhat editor={editor} />
      {hasArea ? <RuleArea editor={editor} /> : null}
      <BacktestPanel editor={editor} number={hasArea ? 4 : 3} />
      <SavePanel editor={editor} number={hasArea ? 5 : 4} onGone={onGone} />
    </div>
  );
}

interface SavePanelProps {
  editor: RuleEditor;
  number: number;
  onGone: () => void;
}

function SavePanel({ editor, number, onGone }: SavePanelProps): JSX.Element {
  const { rule, name, problem, change } = editor;
  const { isBusy, trouble, save, remove } = useRuleCalls(editor, onGone);
  const isOff = problem !== undefined || name.trim() === '' || missingScopes.value.has('notify');
  return (
    <section class="panel" aria-labelledby="save">
      <h2 id="save">{t.rule.step(number, t.rule.steps.save)}</h2>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <TextField name={t.rule.ruleName} value={name} maxLength={100} onInput={(next) => change({ name: next })} />
        <div class="row">
          <ActionButton isSubmit class="primary" isBusy={isBusy} isOff={isOff}>
            {isBusy ? t.rule.saving : t.rule.save}
          </ActionButton>
          {rule ? (
            <AskButton
              text={t.rule.remove}
              question={t.rule.removeSure}
              yes={t.rule.removeYes}
              no={t.rule.removeNo}
              isDanger
              isBusy={isBusy}
              onYes={remove}
            />
          ) : null}
        </div>
        {problem === undefined ? null : <p class="dim">{t.rule.problems[problem]}</p>}
        {missingScopes.value.has('notify') ? null : <TroubleNotice trouble={trouble} />}
      </form>
    </section>
  );
}
