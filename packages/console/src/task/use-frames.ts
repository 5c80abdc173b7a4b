import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { LONGEST_STEP_MS, objectsAt, objectsNear } from '../lib/boxes.ts';
import { FrameWindow } from '../lib/frame-window.ts';
import type { Trouble } from '../lib/trouble.ts';
import { noteLoading } from '../state/session.ts';
import { loadFrames } from './load-frames.ts';
import type { TaskView } from './task-view.ts';

/** Keeps the objects of the view those of its position. Returns why frames around it are missing. */
export function useFrames(view: TaskView, isOn = true): Trouble | undefined {
  const { taskId, client, lowest } = view;
  const trouble = useSignal<Trouble | undefined>(undefined);
  const source = useRef(view.source.value.value);
  source.current = view.source.value.value;
  const tick = useSignal(0);
  const isFailing = useSignal(false);
  const frames = useMemo(
    () =>
      new FrameWindow({
        load: (fromMs, toMs) => loadFrames(client, { taskId, fromMs, toMs, minScore: lowest }),
        isFinal: (toMs) => source.current?.state === 'ended' || (source.current?.last_frame_time_ms ?? -1) >= toMs,
        onChange: () => (tick.value += 1),
        onProblem: (error) => (trouble.value = noteLoading(error, true)),
      }),
    [taskId, lowest],
  );
  const at = view.position.value;
  const isLater = isOn && (view.isRunning || isFailing.value);
  useEffect(() => {
    // Frames of a task that still runs are loaded again until they are there, and those that could not be loaded.
    const timer = isLater ? setInterval(() => (tick.value += 1), 2_000) : undefined;
    return () => clearInterval(timer);
  }, [isLater]);
  useEffect(() => {
    if (!isOn || at === undefined) return;
    const near = frames.around(at);
    isFailing.value = frames.hasFailedAround(at);
    if (!isFailing.value) trouble.value = undefined;
    const exact = objectsAt(near, at);
    // A chosen moment may lie between two frames that are far apart.
    view.objects.value = exact.length > 0 ? exact : objectsNear(near, at, LONGEST_STEP_MS);
    view.noteLabels(view.objects.value.map(({ label }) => label));
  }, [frames, isOn, at, tick.value]);
  return trouble.value;
}
