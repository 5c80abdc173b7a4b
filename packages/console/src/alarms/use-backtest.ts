import { useSignal } from '@preact/signals';
import type { components } from '@vision/client';
import { conditionsOf } from '../lib/rule-draft.ts';
import { bucketFor } from '../lib/timeline-query.ts';
import type { Range, Timeline } from '../lib/timeline-shape.ts';
import { dataOf } from '../state/data.ts';
import { useSession } from '../state/session.ts';
import { useAction } from '../state/use-action.ts';
import type { Source } from '../task/task-view.ts';
import type { RuleEditor } from './rule-editor.ts';

type Report = components['schemas']['AlarmBacktest'];
export type BacktestAlarm = Report['alarms'][number];

/** What a test of the rule found, and where. */
export interface Backtest {
  report: Report;
  timeline: Timeline;
  range: Range;
  isStream: boolean;
  /** What was tested, as text: the form may have changed since. */
  tested: string;
}

const LONGEST_MS = 6 * 3_600_000;

const testedText = ({ draft, task }: RuleEditor) => JSON.stringify([conditionsOf(draft), task?.task_id]);

/** Tests the rule on the stored frames of its task. */
export function useBacktest(editor: RuleEditor) {
  const { client } = useSession();
  const { task, draft } = editor;
  const source = editor.source.value.value;
  const result = useSignal<Backtest | undefined>(undefined);
  const { run, isBusy, trouble } = useAction();
  const range = source && rangeOf(source);
  const test = () =>
    run(async () => {
      if (!task || !range) return;
      const times = { from_ms: range.fromMs, to_ms: range.toMs };
      const body = { task_id: task.task_id, ...times, ...conditionsOf(draft) };
      const query = { ...times, ...bucketFor(source.kind, range.toMs - range.fromMs) };
      const params = { path: { task_id: task.task_id }, query };
      const [report, timeline] = await Promise.all([
        client.api.POST('/v1/vision/alarm-backtests', { body }).then(dataOf),
        client.api.GET('/v1/vision/tasks/{task_id}/timeline', { params }).then(dataOf),
      ]);
      result.value = { report, timeline, range, isStream: source.kind === 'stream', tested: testedText(editor) };
      editor.moment.value = report.alarms[0]?.opened_ms ?? editor.moment.peek();
    });
  return {
    test,
    result: result.value,
    isStale: result.value !== undefined && result.value.tested !== testedText(editor),
    isRunning: isBusy,
    trouble,
    isLoading: source === undefined,
    hasFrames: range !== undefined,
    isUpload: source?.kind === 'upload',
  };
}

/** The newest six hours of a stream, or the first of a video; undefined while there are no frames. */
function rangeOf({ kind, coverage, last_frame_time_ms: last, duration_ms: length }: Source): Range | undefined {
  if (last === undefined) return undefined;
  // Timelines begin with a whole second.
  const end = (Math.floor(Math.max(last, length ?? 0) / 1000) + 1) * 1000;
  if (kind === 'upload') return { fromMs: 0, toMs: Math.min(LONGEST_MS, end) };
  return { fromMs: Math.max(Math.floor(coverage.from_ms / 1000) * 1000, end - LONGEST_MS), toMs: end };
}
