import { useComputed, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { TroubleNotice } from '../components/notice.tsx';
import { When } from '../components/when.tsx';
import { duration, percent, position, time } from '../lib/format.ts';
import { timelineRange } from '../lib/timeline-query.ts';
import { contentAt, objectsIn, rangeOf } from '../lib/timeline-shape.ts';
import type { Timeline } from '../lib/timeline-shape.ts';
import { dataOf } from '../state/data.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { t } from '../strings.ts';
import type { TaskView } from './task-view.ts';
import { TimelineChart } from './timeline-chart.tsx';

const EVERY_MS = 3_000;
const SETTLE_MS = 250;

/** How much of a stream is shown, in milliseconds; undefined: all of it. */
const RANGES = { tenMinutes: 600_000, hour: 3_600_000, day: 86_400_000, all: undefined } as const;
type RangeName = keyof typeof RANGES;

/** Objects over time, and where there are no frames. */
export function TimelinePanel({ view }: { view: TaskView }): JSX.Element {
  const rangeName = useSignal<RangeName>('tenMinutes');
  const source = view.source.value.value;
  const isStream = source?.kind === 'stream';
  const { timeline, trouble } = useTimeline(view, isStream ? RANGES[rangeName.value] : undefined);
  const hovered = useSignal<number | undefined>(undefined);
  return (
    <section class="panel timeline" aria-labelledby="timeline">
      <div class="panel-head">
        <h2 id="timeline">{t.timeline.title}</h2>
        {isStream ? <RangeChoice value={rangeName.value} onChange={(next) => (rangeName.value = next)} /> : null}
      </div>
      <TroubleNotice trouble={trouble} />
      {timeline && timeline.as_of_ms !== null ? (
        <>
          <TimelineChart
            timeline={timeline}
            hidden={view.hidden.value}
            at={view.position.value}
            hovered={hovered.value}
            textOf={(ms) => textAt(timeline, ms, { isStream, hidden: view.hidden.value })}
            onHover={(ms) => (hovered.value = ms)}
            onSeek={(ms) => (view.chosen.value = { ms })}
          />
          <p class="line timeline-text">
            {hovered.value === undefined
              ? t.timeline.hint
              : textAt(timeline, hovered.value, { isStream, hidden: view.hidden.value })}
          </p>
          <Coverage timeline={timeline} />
        </>
      ) : (
        <p class="dim timeline-empty">{textWithout(timeline, view.isRunning)}</p>
      )}
    </section>
  );
}

/** Stands for a timeline without frames. */
function textWithout(timeline: Timeline | undefined, isRunning: boolean): string {
  if (!timeline) return t.loading;
  return isRunning ? t.timeline.empty : t.timeline.emptyEnded;
}

function useTimeline(view: TaskView, lengthMs: number | undefined) {
  const { taskId, client, minScore, isRunning } = view;
  const score = useSettled(minScore.value);
  const range = timelineRange(view.source.value.value, { lengthMs, isRunning });
  const { value, trouble, reload } = useLoaded({
    key: taskId,
    variant: JSON.stringify([lengthMs, score, range.to_ms !== undefined, range.bucket_ms]),
    load: async (signal) => {
      const params = { path: { task_id: taskId }, query: { min_score: score, ...range } };
      return dataOf(await client.api.GET('/v1/vision/tasks/{task_id}/timeline', { params, signal }));
    },
    everyMs: () => (view.isRunning ? EVERY_MS : undefined),
  });
  // What was stored last is there when the task has ended.
  useEffect(() => {
    if (!isRunning) reload();
  }, [isRunning]);
  const timeline = value.value;
  useEffect(() => {
    if (timeline) view.noteLabels(timeline.items.flatMap(({ labels }) => labels.map(({ label }) => label)));
  }, [timeline]);
  return { timeline, trouble: trouble.value };
}

/** A multiple of 0.05 that has not changed for a moment. */
function useSettled(score: number): number {
  const rounded = Number((Math.round(score * 20) / 20).toFixed(2));
  const settled = useSignal(rounded);
  useEffect(() => {
    const timer = setTimeout(() => (settled.value = rounded), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [rounded]);
  return useComputed(() => settled.value).value;
}

function RangeChoice({ value, onChange }: { value: RangeName; onChange: (next: RangeName) => void }): JSX.Element {
  return (
    <div class="segments" role="group" aria-label={t.timeline.range}>
      {(Object.keys(RANGES) as RangeName[]).map((name) => (
        <button key={name} type="button" aria-pressed={name === value} onClick={() => onChange(name)}>
          {t.timeline.ranges[name]}
        </button>
      ))}
    </div>
  );
}

interface TextOptions {
  isStream: boolean;
  hidden: ReadonlySet<string>;
}

/** What the timeline has at a moment, in words. */
export function textAt(timeline: Timeline, ms: number, { isStream, hidden }: TextOptions): string {
  const { gap, bucket } = contentAt(timeline, ms);
  const when = isStream ? time(ms) : position(ms);
  if (gap) return `${when}: ${t.timeline.gap(t.timeline.reasons[gap.reason], duration(gap.to_ms - gap.from_ms))}`;
  return `${when}: ${bucket ? t.timeline.objects(objectsIn(bucket, hidden)) : t.timeline.noFrames}`;
}

const MOST_GAPS = 200;

function Coverage({ timeline }: { timeline: Timeline }): JSX.Element {
  const { coverage, gaps } = timeline;
  const { fromMs, toMs } = rangeOf(timeline);
  const share = percent(coverage.covered_ms / Math.max(1, toMs - fromMs));
  return (
    <details>
      <summary>{t.timeline.coverage(share, coverage.gaps)}</summary>
      <table>
        <caption class="hidden">{t.timeline.gaps}</caption>
        <thead>
          <tr>
            <th scope="col">{t.timeline.from}</th>
            <th scope="col">{t.timeline.length}</th>
            <th scope="col">{t.timeline.reason}</th>
          </tr>
        </thead>
        <tbody>
          {gaps.slice(0, MOST_GAPS).map((gap) => (
            <tr key={gap.from_ms}>
              <td>
                <When ms={gap.from_ms} />
              </td>
              <td>{duration(gap.to_ms - gap.from_ms)}</td>
              <td>{t.timeline.reasons[gap.reason]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
