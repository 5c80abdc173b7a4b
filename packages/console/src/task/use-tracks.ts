import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { TrackWindow } from '../lib/track-window.ts';
import { dataOf } from '../state/data.ts';
import { useAction } from '../state/use-action.ts';
import { useLoaded } from '../state/use-loaded.ts';
import type { TaskView } from './task-view.ts';

const EVERY_MS = 4_000;

/** The tracks of a task: of a video from its beginning, of a stream the newest first. */
export function useTracks(view: TaskView) {
  const { taskId, client, lowest, isRunning } = view;
  const kind = view.source.value.value?.kind;
  const tick = useSignal(0);
  const page = useAction();
  const held = useMemo(
    () =>
      new TrackWindow({
        order: kind === 'upload' ? 'oldest' : 'newest',
        load: async (asked, signal) => {
          const params = { path: { task_id: taskId }, query: { ...asked, min_score: lowest } };
          const request = { params, ...(signal ? { signal } : {}) };
          const found = dataOf(await client.api.GET('/v1/vision/tasks/{task_id}/tracks', request));
          view.noteLabels(found.items.map(({ label }) => label));
          return found;
        },
      }),
    [taskId, kind, lowest],
  );
  const { value, trouble, reload } = useLoaded({
    key: JSON.stringify([taskId, kind, lowest]),
    load: async (signal) => {
      if (kind === undefined) return false;
      await held.refresh(signal);
      // The connection is back, so what failed before may be tried again.
      page.forgive();
      tick.value += 1;
      return true;
    },
    everyMs: () => (view.isRunning || held.hasOpen ? EVERY_MS : undefined),
  });
  useEffect(() => {
    if (!isRunning) reload();
  }, [isRunning]);
  const more = () =>
    page.run(async () => {
      await held.more();
      tick.value += 1;
    });
  const round = tick.value;
  return {
    tracks: useMemo(() => held.tracks, [held, round]),
    isLoaded: value.value === true,
    trouble: page.trouble ?? trouble.value,
    hasMore: held.hasMore,
    isLoadingMore: page.isBusy,
    more,
  };
}
