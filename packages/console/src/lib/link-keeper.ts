import { isPassing } from './trouble.ts';

/** Why a video is not shown: it is no longer stored, or this browser cannot play it. */
export type VideoFault = 'gone' | 'unplayable';
/** Or that a new link may work: the last one has expired, or was not reached. */
export type LinkState = VideoFault | 'lost';

const RETRY_MS = 3_000;

export interface LinkKeeperOptions {
  /** Makes a link. */
  make: () => Promise<string>;
  /** Finds out why a link did not work. */
  ask: (url: string, wasCut: boolean) => Promise<LinkState>;
  wait: (ms: number) => Promise<void>;
  onLink: (url: string) => void;
  onFault: (fault: VideoFault) => void;
  /** Undefined once it has passed. */
  onProblem: (error: unknown) => void;
}

/** Keeps a working link to a video: a new one follows when the last has expired, or was not reached for a while. */
export class LinkKeeper {
  readonly #options: LinkKeeperOptions;
  #url: string | undefined;
  #hasEnded = false;
  #isMaking = false;

  constructor(options: LinkKeeperOptions) {
    this.#options = options;
  }

  /** Makes links until there is one, or until none can come. */
  async renew(): Promise<void> {
    const { make, wait, onLink, onProblem } = this.#options;
    if (this.#isMaking) return;
    this.#isMaking = true;
    for (let hasLink = false; !hasLink && !this.#hasEnded;) {
      try {
        const url = await make();
        if (this.#isOver()) return;
        hasLink = true;
        this.#url = url;
        onProblem(undefined);
        onLink(url);
      } catch (error) {
        if (this.#isOver()) return;
        onProblem(error);
        if (!isPassing(error)) break;
        await wait(RETRY_MS);
      }
    }
    this.#isMaking = false;
  }

  /** The video failed. `wasCut`: its connection broke, so what came of it was good. */
  async failed(wasCut: boolean): Promise<void> {
    const { ask, wait, onFault } = this.#options;
    if (this.#url === undefined || this.#isMaking) return;
    const state = await ask(this.#url, wasCut);
    if (this.#hasEnded) return;
    if (state === 'lost') {
      await wait(RETRY_MS);
      await this.renew();
    } else onFault(state);
  }

  end(): void {
    this.#hasEnded = true;
  }

  /** Asked again after every wait. */
  #isOver(): boolean {
    return this.#hasEnded;
  }
}

const isExpired = (body: unknown): boolean =>
  typeof body === 'object' &&
  body !== null &&
  'details' in body &&
  (body.details as { reason?: unknown } | null)?.reason === 'link_invalid';

/** What a link leads to now, by its first byte. */
export async function stateOfLink(
  url: string,
  wasCut: boolean,
  fetch: (request: Request) => Promise<Response>,
): Promise<LinkState> {
  try {
    const answer = await fetch(new Request(url, { headers: { range: 'bytes=0-0' }, cache: 'no-store' }));
    if (answer.status === 404) return isExpired(await answer.json().catch(() => undefined)) ? 'lost' : 'gone';
    await answer.body?.cancel();
    return !answer.ok || wasCut ? 'lost' : 'unplayable';
  } catch {
    return 'lost';
  }
}
