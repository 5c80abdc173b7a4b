import type { JSX } from 'preact';
import { OneOf, optionsOf } from '../components/choices.tsx';
import { Choice } from '../components/fields.tsx';
import { ShapeEditor } from '../components/shape-editor.tsx';
import { emptyDraft } from '../lib/rule-draft.ts';
import type { Direction, RuleDraft } from '../lib/rule-draft.ts';
import { HALVES, halfOf } from '../lib/shape.ts';
import { t } from '../strings.ts';
import type { RuleEditor } from './rule-editor.ts';
import { useTaskImage } from './task-image.tsx';

type Area = keyof typeof t.rule.areas;

const areaOf = ({ isPart, region }: RuleDraft): Area => (isPart ? (halfOf(region) ?? 'part') : 'whole');

function draftWith(area: Area): Partial<RuleDraft> {
  if (area === 'whole') return { isPart: false };
  return { isPart: true, region: area === 'part' ? emptyDraft.region : HALVES[area] };
}

/** Step 3: where in the image, for kinds that are about objects. */
export function RuleArea({ editor }: { editor: RuleEditor }): JSX.Element {
  const { draft, change } = editor;
  const isLine = draft.kind === 'line_crossed';
  return (
    <section class="panel" aria-labelledby="area">
      <h2 id="area">{t.rule.step(3, isLine ? t.rule.steps.line : t.rule.steps.area)}</h2>
      {isLine ? null : (
        <OneOf
          name={t.rule.area}
          options={optionsOf(t.rule.areas)}
          value={areaOf(draft)}
          onChange={(next) => change(draftWith(next))}
        />
      )}
      {isLine || draft.isPart ? <Shape key={draft.kind} editor={editor} isLine={isLine} /> : null}
    </section>
  );
}

function Shape({ editor, isLine }: { editor: RuleEditor; isLine: boolean }): JSX.Element {
  const { draft, change, problem } = editor;
  const { media, aspect, note } = useTaskImage(editor);
  const isWrong = problem === 'few' || problem === 'crossed' || problem === 'line';
  return (
    <>
      <ShapeEditor
        kind={isLine ? 'line' : 'polygon'}
        points={isLine ? draft.line : draft.region}
        aspect={aspect}
        onChange={(points) => change(isLine ? { line: points } : { region: points })}
      >
        {media}
      </ShapeEditor>
      {note === undefined ? null : <p class="hint">{note}</p>}
      <div class="row ends">
        {isLine ? (
          <Choice
            name={t.rule.direction}
            value={draft.direction}
            options={optionsOf(t.rule.directions)}
            onChange={(next) => change({ direction: next as Direction })}
          />
        ) : null}
        <button
          type="button"
          onClick={() => change(isLine ? { line: emptyDraft.line } : { region: emptyDraft.region })}
        >
          {t.shape.reset}
        </button>
        <span class="fault-text" role="status">
          {isWrong ? t.rule.problems[problem] : ''}
        </span>
      </div>
      {isLine ? <p class="hint">{t.rule.directionHint}</p> : null}
    </>
  );
}
