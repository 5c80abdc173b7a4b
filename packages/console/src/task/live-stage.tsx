import { useSignal } from '@preact/signals';
import { VisionError } from '@vision/client';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { TroubleNotice } from '../components/notice.tsx';
import { objectsNear } from '../lib/boxes.ts';
import { inUtc, time } from '../lib/format.ts';
import { troubleOf } from '../lib/trouble.ts';
import type { Trouble } from '../lib/trouble.ts';
import { dataOf } from '../state/data.ts';
import { noteLoading } from '../state/session.ts';
import { WITHOUT_IMAGES } from '../state/snapshots.ts';
import { useUrls } from '../state/use-urls.ts';
import { t } from '../strings.ts';
import { loadFrames } from './load-frames.ts';
import { awayText } from './away-text.ts';
import { Frame } from './frame.tsx';
import type { TaskView } from './task-view.ts';

const EVERY_MS = 1_000;
/** How far the frame of the boxes may be from that of the image. */
const NEAR_MS = 600;

interface Live {
  /** Undefined for a task without images. */
  image: Blob | undefined;
  timeMs: number;
}

/** The newest frame of a stream, once a second, with the objects of that frame. */
export function LiveStage({ view }: { view: TaskView }): JSX.Element {
  const { live, text, trouble } = useLive(view);
  const image = useRef<Blob[]>([]);
  if (live?.image && image.current[0] !== live.image) image.current = [live.image];
  const [url] = useUrls(image.current);
  const source = view.source.value.value;
  const away = awayText(source);
  const shownAt = away === undefined ? live?.timeMs : source?.away_since_ms;
  const media = url === undefined || !live?.image ? null : <img src={url} alt={t.task.live} />;
  return (
    <>
      <Frame view={view} media={media}>
        {live ? undefined : (away ?? t.task.waiting)}
      </Frame>
      <p class="stage-note" title={shownAt === undefined ? undefined : inUtc(shownAt)}>
        {away ?? text ?? (live ? t.task.liveAt(time(live.timeMs)) : t.task.waiting)}
      </p>
      <TroubleNotice trouble={trouble} />
    </>
  );
}

function useLive(view: TaskView) {
  const live = useSignal<Live | undefined>(undefined);
  const text = useSignal<string | undefined>(undefined);
  const trouble = useSignal<Trouble | undefined>(undefined);
  const latest = useRef(view);
  latest.current = view;
  useEffect(() => {
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const turn = async () => {
      try {
        if (!document.hidden) await show(latest.current, { live, text, signal: ended.signal });
        trouble.value = undefined;
      } catch (error) {
        const reason = troubleOf(error)?.reason ?? '';
        if (ended.signal.aborted) return;
        if (LOST.includes(reason)) text.value = live.value ? t.task.liveLost : t.task.waiting;
        else trouble.value = noteLoading(error, live.value !== undefined);
      }
      if (!ended.signal.aborted) timer = setTimeout(() => void turn(), EVERY_MS);
    };
    void turn();
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [view.taskId]);
  return { live: live.value, text: text.value, trouble: trouble.value };
}

/** Reasons of a moment without an image that pass by themselves. */
const LOST = ['snapshot_not_yet', 'snapshot_none', 'task_not_found'];
/** Tasks that were found to have none; they are not asked again. */
const tasksWithoutImages = new Set<string>();

interface Shown {
  live: { value: Live | undefined };
  text: { value: string | undefined };
  signal: AbortSignal;
}

async function show(view: TaskView, { live, text, signal }: Shown): Promise<void> {
  const next = await newest(view, signal);
  if (!next || signal.aborted) return;
  const { taskId, client, lowest } = view;
  const range = { fromMs: Math.max(0, next.timeMs - NEAR_MS), toMs: next.timeMs + NEAR_MS + 1 };
  const frames = await loadFrames(client, { taskId, ...range, minScore: lowest });
  if (isAborted(signal)) return;
  view.objects.value = objectsNear(frames, next.timeMs, NEAR_MS);
  view.noteLabels(view.objects.value.map(({ label }) => label));
  view.position.value = next.timeMs;
  live.value = next;
  text.value = next.image ? undefined : t.task.snapshotsOff;
}

/** Asked again after every wait. */
const isAborted = (signal: AbortSignal) => signal.aborted;

/** The newest image; for a task without images the time of its newest frame. */
async function newest({ taskId, client, source }: TaskView, signal: AbortSignal): Promise<Live | undefined> {
  const timeMs = source.value.value?.last_frame_time_ms;
  const withoutImage = timeMs === undefined ? undefined : { image: undefined, timeMs };
  if (tasksWithoutImages.has(taskId)) return withoutImage;
  const options = { params: { path: { task_id: taskId } }, signal, parseAs: 'blob' } as const;
  try {
    const answer = await client.api.GET('/v1/vision/tasks/{task_id}/live-snapshot', options);
    return { image: dataOf(answer), timeMs: Number(answer.response.headers.get('x-frame-time-ms')) };
  } catch (error) {
    if (!(error instanceof VisionError) || !WITHOUT_IMAGES.includes(error.problem.details.reason)) throw error;
    tasksWithoutImages.add(taskId);
    return withoutImage;
  }
}
