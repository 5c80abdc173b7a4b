import { computed, signal } from '@preact/signals';
import type { ReadonlySignal, Signal } from '@preact/signals';
import type { components, Scene, Task, Track, VisionClient } from '@vision/client';
import { useMemo } from 'preact/hooks';
import { isActive } from '../components/status.tsx';
import { isWanted } from '../lib/boxes.ts';
import type { Filter, Shown } from '../lib/boxes.ts';
import { dataOf } from '../state/data.ts';
import { useSession } from '../state/session.ts';
import { useLoaded } from '../state/use-loaded.ts';
import type { Loaded } from '../state/use-loaded.ts';

export type Source = components['schemas']['TaskSource'];

interface Chosen {
  ms: number;
  /** The track whose moment it is. */
  track?: Track;
}

/** What the parts of a task's page share. */
export interface TaskView {
  taskId: string;
  client: VisionClient;
  task: Loaded<Task>;
  source: Loaded<Source>;
  scene: Scene | undefined;
  isRunning: boolean;
  minScore: Signal<number>;
  hidden: Signal<ReadonlySet<string>>;
  /** Labels that have appeared on the page. */
  labels: ReadonlySignal<string[]>;
  noteLabels: (labels: Iterable<string>) => void;
  /** The moment that is shown, as `frame_time_ms`; undefined before the first frame. */
  position: Signal<number | undefined>;
  /** A moment that the viewer chose; undefined while a live stream is followed. */
  chosen: Signal<Chosen | undefined>;
  /** Every object of the moment, and those that pass the filters. */
  objects: Signal<readonly Shown[]>;
  shown: ReadonlySignal<readonly Shown[]>;
  /** Size of the image that is shown, where the source does not tell it yet. */
  shape: Signal<{ width: number; height: number } | undefined>;
  /** Trace of the request that read the source. */
  traceId: Signal<string>;
  /** The lowest score that is stored. */
  lowest: number;
}

const TASK_EVERY_MS = 3_000;
const SOURCE_EVERY_MS = 3_000;

export function useTaskView(taskId: string): TaskView {
  const { client, scenes } = useSession();
  const params = { path: { task_id: taskId } };
  const view = useMemo(createFilters, [taskId]);
  const task = useLoaded({
    key: taskId,
    load: (ended) => client.task(taskId, ended),
    everyMs: (value) => (!value || isActive(value.status) ? TASK_EVERY_MS : undefined),
  });
  const source = useLoaded({
    key: taskId,
    load: async (ended) => {
      const answer = await client.api.GET('/v1/vision/tasks/{task_id}/source', { params, signal: ended });
      view.traceId.value = answer.response.headers.get('x-trace-id') ?? '';
      return dataOf(answer);
    },
    everyMs: (value) => (value?.state === 'ended' ? undefined : SOURCE_EVERY_MS),
  });
  const current = task.value.value;
  const scene = scenes.find(({ scene_code: code }) => code === current?.scene_code);
  useMemo(() => {
    if (scene) view.minScore.value = Math.floor(scene.default_min_score * 20) / 20;
  }, [scene]);
  const isRunning = current === undefined || isActive(current.status);
  return { taskId, client, task, source, scene, isRunning, ...view, lowest: scene?.lower_bound ?? 0 };
}

function createFilters() {
  const minScore = signal(0.5);
  const hidden = signal<ReadonlySet<string>>(new Set());
  const seen = signal<ReadonlySet<string>>(new Set());
  const objects = signal<readonly Shown[]>([]);
  const filter = computed<Filter>(() => ({ minScore: minScore.value, hidden: hidden.value }));
  return {
    minScore,
    hidden,
    objects,
    shown: computed(() => objects.value.filter((object) => isWanted(object, filter.value))),
    labels: computed(() => [...seen.value].toSorted()),
    noteLabels: (labels: Iterable<string>) => {
      const fresh = [...labels].filter((label) => !seen.peek().has(label));
      if (fresh.length > 0) seen.value = new Set([...seen.peek(), ...fresh]);
    },
    shape: signal<{ width: number; height: number } | undefined>(undefined),
    traceId: signal(''),
    position: signal<number | undefined>(undefined),
    chosen: signal<Chosen | undefined>(undefined),
  };
}
