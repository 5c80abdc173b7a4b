import { useSignal } from '@preact/signals';
import type { Track } from '@vision/client';
import { useEffect } from 'preact/hooks';
import { dataOf } from '../state/data.ts';
import { noteTrouble } from '../state/session.ts';
import { useLoaded } from '../state/use-loaded.ts';
import type { TaskView } from './task-view.ts';

const EVERY_MS = 4_000;
const PER_PAGE = 100;

/** The tracks of a task: of a video from its beginning, of a stream the newest first. */
export function useTracks(view: TaskView) {
  const { taskId, client, lowest, isRunning } = view;
  const kind = view.source.value.value?.kind;
  const order = kind === 'upload' ? ('oldest' as const) : ('newest' as const);
  const tracks = useSignal<ReadonlyMap<string, Track>>(new Map());
  const next = useSignal<string | undefined>(undefined);
  const isLoadingMore = useSignal(false);
  const merge = (items: readonly Track[]) => {
    tracks.value = new Map([...tracks.peek(), ...items.map((track): [string, Track] => [track.track_id, track])]);
    view.noteLabels(items.map(({ label }) => label));
  };
  const load = async (cursor: string | undefined, signal?: AbortSignal) => {
    const query = { order, limit: PER_PAGE, min_score: lowest, ...(cursor === undefined ? {} : { cursor }) };
    const params = { path: { task_id: taskId }, query };
    const request = { params, ...(signal ? { signal } : {}) };
    const page = dataOf(await client.api.GET('/v1/vision/tasks/{task_id}/tracks', request));
    merge(page.items);
    return page.next_cursor;
  };
  const { value, trouble, reload } = useLoaded({
    key: JSON.stringify([taskId, kind, lowest]),
    load: async (signal) => {
      if (kind === undefined) return false;
      const cursor = await load(undefined, signal);
      // Later pages, once they are there, are not asked for again.
      next.value ??= cursor;
      if (next.peek() === '') next.value = cursor;
      return true;
    },
    everyMs: () => (view.isRunning ? EVERY_MS : undefined),
  });
  useEffect(() => {
    if (!isRunning) reload();
  }, [isRunning]);
  const more = async () => {
    isLoadingMore.value = true;
    try {
      next.value = await load(next.peek());
    } catch (error) {
      trouble.value = noteTrouble(error);
    } finally {
      isLoadingMore.value = false;
    }
  };
  const sign = order === 'oldest' ? 1 : -1;
  const sorted = [...tracks.value.values()].toSorted((a, b) => sign * (a.first_time_ms - b.first_time_ms));
  return {
    tracks: sorted,
    isLoaded: value.value === true,
    trouble: trouble.value,
    hasMore: next.value !== undefined && next.value !== '',
    isLoadingMore: isLoadingMore.value,
    more: () => void more(),
  };
}
