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
/** That change between two looks. */
const MOST_PAGES = 10;

/** What can still change: a track that is in view, and one whose image is on its way. */
const isOpen = ({ state, snapshot }: Track) => state === 'active' || snapshot.state === 'pending';

/** The tracks of a task as far as the viewer has asked for them, each as it was at the last look. */
export class TrackWindow {
  readonly #options: TrackWindowOptions;
  readonly #tracks = new Map<string, Track>();
  #next: string | undefined;
  #asOfMs: number | undefined;

  constructor(options: TrackWindowOptions) {
    this.#options = options;
  }

  /** In their order. */
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
   * Looks again: for new tracks, and for those that may have changed since the last look, on whatever page they came.
   * Those behind the last page stay there.
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

  /** Too many are new: the viewer asks for those behind them, so that none is left out in between. */
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

  /** When the last track of the last page begins; undefined when that is the last of all. */
  #edge(): number | undefined {
    return this.hasMore ? this.tracks.at(-1)?.first_time_ms : undefined;
  }

  /** What changed has a frame at or after this time; undefined when nothing can have changed. */
  #changedFrom(): number | undefined {
    const open = [...this.#tracks.values()].filter(isOpen).map(({ last_time_ms: at }) => at);
    // New tracks of a video are behind the last page; those of a stream come first.
    const isNewBehind = this.#options.order === 'oldest' && this.hasMore;
    const times = isNewBehind || this.#asOfMs === undefined ? open : [...open, this.#asOfMs];
    return times.length === 0 ? undefined : Math.min(...times);
  }
}
