import type { Track } from '@vision/client';

export type TrackOrder = 'oldest' | 'newest';

interface TrackPage {
  items: readonly Track[];
  next_cursor: string;
  as_of_ms: number | null;
}

interface TrackQuery {
  order: TrackOrder;
  limit: number;
  cursor?: string;
  from_ms?: number;
}

export interface TrackWindowOptions {
  order: TrackOrder;
  load: (query: TrackQuery, signal: AbortSignal | undefined) => Promise<TrackPage>;
}

const PER_PAGE = 100;
/** Maximum pages of changed tracks that one refresh reads. */
const MOST_PAGES = 10;

/** Whether a track can still change: it is active, or its image is pending. */
const isOpen = ({ state, snapshot }: Track) => state === 'active' || snapshot.state === 'pending';

/** The loaded tracks of a task, each in its state at the last refresh. */
export class TrackWindow {
  readonly #options: TrackWindowOptions;
  readonly #tracks = new Map<string, Track>();
  #next: string | undefined;
  #asOfMs: number | undefined;

  constructor(options: TrackWindowOptions) {
    this.#options = options;
  }

  /** Sorted by the chosen order. */
  get tracks(): Track[] {
    return [...this.#tracks.values()].toSorted((a, b) => this.#distance(a.first_time_ms, b.first_time_ms));
  }

  get hasMore(): boolean {
    return this.#next !== undefined && this.#next !== '';
  }

  /** Whether a track can change, also after the end of the task. */
  get hasOpen(): boolean {
    return [...this.#tracks.values()].some(isOpen);
  }

  /** The next page. */
  async more(): Promise<void> {
    const cursor = this.#next;
    const page = await this.#load(cursor === undefined ? {} : { cursor }, undefined);
    this.#add(page.items);
    this.#next = page.next_cursor;
  }

  /**
   * Fetches new tracks, and those on any loaded page that may have changed since the last refresh. Does not add tracks
   * after the last loaded page.
   */
  async refresh(signal?: AbortSignal): Promise<void> {
    if (this.#tracks.size === 0) {
      const { items, next_cursor: next, as_of_ms: asOfMs } = await this.#load({}, signal);
      this.#add(items);
      this.#next = next;
      this.#asOfMs = asOfMs ?? undefined;
      return;
    }
    const edge = this.#edge();
    const fromMs = this.#changedFrom();
    if (fromMs === undefined) return;
    let [cursor, lastMs] = ['', 0];
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const page = await this.#load({ from_ms: fromMs, ...(cursor === '' ? {} : { cursor }) }, signal);
      const near = page.items.filter(({ first_time_ms: at }) => edge === undefined || this.#distance(at, edge) <= 0);
      this.#add(near);
      if (pages === 0) this.#asOfMs = page.as_of_ms ?? this.#asOfMs;
      cursor = page.next_cursor;
      lastMs = near.at(-1)?.first_time_ms ?? lastMs;
      if (cursor === '' || near.length < page.items.length) return;
    }
    this.#cutBehind(lastMs, cursor);
  }

  /** Too many tracks are new: drops those after them, which the viewer then loads page by page, without a gap. */
  #cutBehind(lastMs: number, cursor: string): void {
    for (const [id, { first_time_ms: at }] of this.#tracks) if (this.#distance(at, lastMs) > 0) this.#tracks.delete(id);
    this.#next = cursor;
  }

  #load(query: Partial<TrackQuery>, signal: AbortSignal | undefined): Promise<TrackPage> {
    const { order, load } = this.#options;
    return load({ order, limit: PER_PAGE, ...query }, signal);
  }

  #add(items: readonly Track[]): void {
    for (const track of items) this.#tracks.set(track.track_id, track);
  }

  /** Positive when the first of two times comes later in the order. */
  #distance(a: number, b: number): number {
    return this.#options.order === 'oldest' ? a - b : b - a;
  }

  /** Start time of the last track of the last loaded page; undefined when there are no further pages. */
  #edge(): number | undefined {
    return this.hasMore ? this.tracks.at(-1)?.first_time_ms : undefined;
  }

  /** Every changed track has a frame at or after this time; undefined when no track can have changed. */
  #changedFrom(): number | undefined {
    const open = [...this.#tracks.values()].filter(isOpen).map(({ last_time_ms: at }) => at);
    // New tracks of a video follow the last page; those of a stream come first.
    const isNewBehind = this.#options.order === 'oldest' && this.hasMore;
    const times = isNewBehind || this.#asOfMs === undefined ? open : [...open, this.#asOfMs];
    return times.length === 0 ? undefined : Math.min(...times);
  }
}
