import type { JSX } from 'preact';
import { Checks, optionsOf } from '../components/choices.tsx';
import { Check, Choice } from '../components/fields.tsx';
import { NumberField } from '../components/number-field.tsx';
import { score } from '../lib/format.ts';
import { bounds, endStatuses, isAboutObjects } from '../lib/rule-draft.ts';
import type { RuleDraft, RuleKind } from '../lib/rule-draft.ts';
import { t } from '../strings.ts';
import type { RuleEditor } from './rule-editor.ts';
import { RuleSchedule } from './rule-schedule.tsx';

/** Step 2: what raises an alarm. */
export function RuleWhat({ editor }: { editor: RuleEditor }): JSX.Element {
  const { draft, change, labels } = editor;
  const { kind } = draft;
  const time = bounds.forS[kind];
  return (
    <section class="panel" aria-labelledby="what">
      <h2 id="what">{t.rule.step(2, t.rule.steps.what)}</h2>
      <div class="pair">
        <Choice
          name={t.rule.kind}
          value={kind}
          options={optionsOf(t.rule.kinds)}
          onChange={(next) => change({ kind: next as RuleKind })}
        />
        {time === undefined ? null : (
          <NumberField
            key={kind}
            name={t.rule.forS[kind]}
            value={draft.forS[kind]}
            bounds={time}
            onInput={(next) => change({ forS: { ...draft.forS, [kind]: next } })}
          />
        )}
      </div>
      {isAboutObjects(kind) ? (
        <Checks
          name={t.rule.labels}
          hint={t.rule.labelsHint}
          options={labels.map((label) => ({ value: label, text: label }))}
          chosen={draft.labels}
          onChange={(next) => change({ labels: next })}
        />
      ) : null}
      {kind === 'task_ended' ? (
        <Checks
          name={t.rule.statuses}
          options={endStatuses.map((status) => ({ value: status, text: t.tasks.statuses[status] }))}
          chosen={draft.statuses}
          onChange={(next) => change({ statuses: next })}
        />
      ) : null}
      <details>
        <summary>{t.rule.more}</summary>
        <div class="stack">
          {isAboutObjects(kind) ? <ObjectSettings editor={editor} /> : null}
          <NumberField
            name={t.rule.interval}
            value={draft.intervalS}
            bounds={bounds.intervalS}
            onInput={(next) => change({ intervalS: next })}
          />
          <RuleSchedule schedule={draft.schedule} onChange={(next) => change({ schedule: next })} />
        </div>
      </details>
    </section>
  );
}

function ObjectSettings({ editor: { draft, change, scene } }: { editor: RuleEditor }): JSX.Element {
  const { kind, minScore } = draft;
  const standard = scene?.default_min_score ?? 0.5;
  return (
    <>
      <Check
        isChecked={minScore !== undefined}
        onChange={(isOwn) => change({ minScore: isOwn ? standard : undefined })}
      >
        {t.rule.ownScore}
      </Check>
      {minScore === undefined ? null : (
        <ScoreSlider value={minScore} lowest={scene?.lower_bound ?? 0} onInput={(next) => change({ minScore: next })} />
      )}
      <Choice
        name={t.rule.anchor}
        value={draft.anchor}
        options={optionsOf(t.rule.anchors)}
        onChange={(next) => change({ anchor: next as RuleDraft['anchor'] })}
      />
      {kind === 'object_present' ? (
        <div class="pair">
          <NumberField
            name={t.rule.minCount}
            value={draft.minCount}
            bounds={bounds.minCount}
            onInput={(next) => change({ minCount: next })}
          />
          <NumberField
            name={t.rule.clearS}
            value={draft.clearS}
            bounds={bounds.clearS}
            onInput={(next) => change({ clearS: next })}
          />
        </div>
      ) : null}
    </>
  );
}

function ScoreSlider({ value, lowest, onInput }: { value: number; lowest: number; onInput: (next: number) => void }) {
  return (
    <label class="field">
      <span>
        {t.rule.minScore} <output>{score(value)}</output>
      </span>
      <input
        type="range"
        min={Math.ceil(lowest * 20) / 20}
        max={0.95}
        step={0.05}
        value={value}
        onInput={(event) => onInput(event.currentTarget.valueAsNumber)}
      />
    </label>
  );
}
