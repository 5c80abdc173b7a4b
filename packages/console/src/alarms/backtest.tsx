import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { ActionButton } from '../components/action-button.tsx';
import { TroubleNotice } from '../components/notice.tsx';
import { duration, inUtc, moment, percent, position, time } from '../lib/format.ts';
import type { DraftProblem } from '../lib/rule-draft.ts';
import { t } from '../strings.ts';
import { TimelineChart } from '../task/timeline-chart.tsx';
import { textAt } from '../task/timeline.tsx';
import { objectsText } from './alarm-words.ts';
import type { RuleEditor } from './rule-editor.ts';
import { useBacktest } from './use-backtest.ts';
import type { Backtest, BacktestAlarm } from './use-backtest.ts';

/** Step 4: what the rule would have raised, on the timeline and as a list. */
export function BacktestPanel({ editor, number }: { editor: RuleEditor; number: number }): JSX.Element {
  const { test, result, isStale, isRunning, trouble, isLoading, hasFrames, isUpload } = useBacktest(editor);
  const { problem, task, draft } = editor;
  const isPointless = isUpload && draft.kind === 'source_down';
  return (
    <section class="panel" aria-labelledby="test">
      <h2 id="test">{t.rule.step(number, t.rule.steps.test)}</h2>
      <p class="row">
        <ActionButton isBusy={isRunning} isOff={!hasFrames || problem !== undefined} onClick={test}>
          {isRunning ? t.backtest.running : t.backtest.run}
        </ActionButton>
        <span class="dim">{hintOf({ problem, hasTask: task !== undefined, isLoading, hasFrames })}</span>
      </p>
      {isPointless ? <p class="hint">{t.backtest.onVideoOnly}</p> : null}
      <TroubleNotice trouble={trouble} />
      {result ? <Result editor={editor} result={result} isStale={isStale} /> : null}
    </section>
  );
}

interface HintProps {
  problem: DraftProblem | undefined;
  hasTask: boolean;
  isLoading: boolean;
  hasFrames: boolean;
}

/** Why the rule cannot be tested now, or what a test does. */
function hintOf({ problem, hasTask, isLoading, hasFrames }: HintProps): string {
  if (problem !== undefined) return t.rule.problems[problem];
  if (!hasTask) return '';
  if (isLoading) return t.loading;
  return hasFrames ? t.backtest.hint : t.backtest.noFrames;
}

interface ResultProps {
  editor: RuleEditor;
  result: Backtest;
  isStale: boolean;
}

function Result({ editor, result, isStale }: ResultProps): JSX.Element {
  const { report, timeline, range, isStream } = result;
  const { alarms, suppressed, frames_read: frames, coverage, judged_to_ms: evaluatedTo } = report;
  const hovered = useSignal<number | undefined>(undefined);
  const { labels } = editor.draft;
  const others = timeline.items.flatMap((item) => item.labels.map(({ label }) => label));
  const hidden = new Set(labels.length === 0 ? [] : others.filter((label) => !labels.includes(label)));
  const textOf = (ms: number) => textAt(timeline, ms, { isStream, hidden });
  const isPartly = evaluatedTo + 1000 < Math.min(range.toMs, timeline.as_of_ms ?? range.toMs);
  return (
    <>
      <div role="status">
        <p class="found">{t.backtest.found(alarms.length, duration(Math.max(0, evaluatedTo - range.fromMs)))}</p>
        <p class="dim">
          {t.backtest.detail(frames, percent(coverage))} {suppressed > 0 ? t.backtest.suppressed(suppressed) : ''}{' '}
          {isPartly ? t.backtest.partly(timeText(evaluatedTo, isStream)) : ''}
        </p>
        <p class="line fault-text">{isStale ? t.backtest.stale : ''}</p>
      </div>
      <TimelineChart
        timeline={timeline}
        hidden={hidden}
        at={editor.moment.value === 0 && isStream ? undefined : editor.moment.value}
        hovered={hovered.value}
        marks={alarms.map(({ opened_ms: openedMs }) => openedMs)}
        textOf={textOf}
        onHover={(ms) => (hovered.value = ms)}
        onSeek={(ms) => (editor.moment.value = ms)}
      />
      <p class="line timeline-text">
        {hovered.value === undefined ? `${t.timeline.hint} ${t.backtest.marks}` : textOf(hovered.value)}
      </p>
      {alarms.length > 0 ? <AlarmTable alarms={alarms} isStream={isStream} /> : null}
    </>
  );
}

const timeText = (ms: number, isStream: boolean) => (isStream ? time(ms) : position(ms));
const MOST_ROWS = 100;

function AlarmTable({ alarms, isStream }: { alarms: readonly BacktestAlarm[]; isStream: boolean }): JSX.Element {
  return (
    <table>
      <caption class="hidden">{t.backtest.alarms}</caption>
      <thead>
        <tr>
          <th scope="col">{t.backtest.opened}</th>
          <th scope="col">{t.backtest.lasted}</th>
          <th scope="col">{t.backtest.objects}</th>
        </tr>
      </thead>
      <tbody>
        {alarms.slice(0, MOST_ROWS).map((alarm) => (
          <tr key={alarm.alarm_id}>
            <td title={isStream ? inUtc(alarm.opened_ms) : undefined}>
              {isStream ? moment(alarm.opened_ms) : position(alarm.opened_ms)}
            </td>
            <td>
              {alarm.closed_ms === undefined ? t.backtest.stillOpen : duration(alarm.closed_ms - alarm.opened_ms)}
            </td>
            <td>
              <bdi>{objectsText(alarm)}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
