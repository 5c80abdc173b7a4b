import { dataOf, optional } from './api.ts';
import { streamItems } from './frames.ts';
import { iterate } from './iterator.ts';
import { followPages } from './pages.ts';
import type { Api } from './api.ts';
import type { Connection } from './connection.ts';
import type { Step, VisionIterator } from './iterator.ts';
import type { Event, QueryOf, ResultFrame, Track } from './types.ts';

interface Reading {
  /** `cursor` of an earlier iterator, or `next_cursor`, `resume_cursor` of a page. */
  cursor?: string | undefined;
  signal?: AbortSignal | undefined;
}
/** Filters for frames and objects, and the position to start from. */
export type FrameOptions = Reading & Omit<QueryOf<'getResultStream'>, 'cursor'>;
/** Filters for tracks, their order and the position to start from; `order` is `changed` by default. */
export type TrackOptions = Reading & Omit<QueryOf<'listTracks'>, 'cursor' | 'limit'>;
/** Filters for events and the position to start from; without a cursor, the next event. */
export type EventOptions = Reading & Omit<QueryOf<'getEventStream'>, 'cursor'>;

const FRAMES_A_PAGE = 200;
const FRAMES_POLL_MS = 300;
const TRACKS_POLL_MS = 1000;
const EVENTS_POLL_MS = 1000;

/** Creates iterators over the results of a task, and over the events of all tasks. */
export function createReaders(connection: Connection, api: Api) {
  async function* frameSteps(taskId: string, options: FrameOptions): AsyncGenerator<Step<ResultFrame>, void> {
    const { cursor, signal, ...query } = options;
    if (cursor === '') return;
    const path = `/v1/vision/tasks/${encodeURIComponent(taskId)}/results/stream`;
    const stream = { path, query, cursor, signal, itemType: 'frame' };
    const rest = yield* streamItems<ResultFrame>(connection, stream);
    if (rest === undefined) return;
    const load = async (from: string | undefined) => {
      const values = { ...query, limit: FRAMES_A_PAGE, ...(from === undefined ? {} : { cursor: from }) };
      const params = { path: { task_id: taskId }, query: values };
      return dataOf(await api.GET('/v1/vision/tasks/{task_id}/results', { params, ...optional(signal) }));
    };
    yield* followPages({ load, cursor: rest.pagesFrom, pollMs: FRAMES_POLL_MS, signal });
  }

  async function* eventSteps({ cursor, signal, ...query }: EventOptions): AsyncGenerator<Step<Event>, void> {
    const stream = { path: '/v1/vision/events/stream', query, cursor, signal, itemType: undefined };
    const rest = yield* streamItems<Event>(connection, stream);
    const page = async (values: QueryOf<'listEvents'>) =>
      dataOf(await api.GET('/v1/vision/events', { params: { query: { ...query, ...values } }, ...optional(signal) }));
    // Without a cursor to continue from, events begin with the next one, as in a stream.
    const from = rest?.pagesFrom ?? (await page({ order: 'newest', limit: 1 })).resume_cursor;
    const load = (at: string | undefined) => page(at === undefined ? {} : { cursor: at });
    yield* followPages({ load, cursor: from, pollMs: EVENTS_POLL_MS, signal });
  }

  return {
    /** Every frame of a task once, as it is stored, until the task has ended; goes on over updates of the service. */
    frames(taskId: string, options: FrameOptions = {}): VisionIterator<ResultFrame> {
      return iterate(frameSteps(taskId, options), options.cursor);
    },

    /**
     * The events of all your tasks, as they are logged, without end. Keep `cursor` and pass it on to miss none; an
     * event may come again, with the same `event_id`. Ignore types that you do not know.
     */
    events(options: EventOptions = {}): VisionIterator<Event> {
      return iterate(eventSteps(options), options.cursor);
    },

    /** The tracks of a task; with `order: 'changed'` each again with its latest state, until the task has ended. */
    tracks(taskId: string, options: TrackOptions = {}): VisionIterator<Track> {
      const { cursor, signal, ...query } = options;
      const load = async (from: string | undefined) => {
        const values = { order: 'changed' as const, ...query, ...(from === undefined ? {} : { cursor: from }) };
        const params = { path: { task_id: taskId }, query: values };
        return dataOf(await api.GET('/v1/vision/tasks/{task_id}/tracks', { params, ...optional(signal) }));
      };
      return iterate(followPages({ load, cursor, pollMs: TRACKS_POLL_MS, signal }), cursor);
    },
  };
}
