import { inspect, isDeepStrictEqual } from 'node:util';
import type { Answer } from '../support/system.ts';

/** What was asked, and what was not as it has to be. */
export interface Findings {
  readonly requests: number;
  /** Requests that got no answer, or another one than they should: how often, and how it was the first time. */
  readonly failed: ReadonlyMap<string, { times: number; first: string }>;
  readonly breaches: readonly string[];
  /** Sends a request. An answer with another status than these counts as failed and gives `undefined`. */
  ask: (what: string, wanted: readonly number[], send: () => Promise<Answer>) => Promise<Answer | undefined>;
  /** What was seen has to be what was wanted. */
  same: (what: string, seen: unknown, wanted: unknown) => void;
  breach: (sentence: string) => void;
}

export function createFindings(): Findings {
  const failed = new Map<string, { times: number; first: string }>();
  const breaches: string[] = [];
  let requests = 0;
  const fail = (what: string, first: string) => {
    const known = failed.get(what);
    if (known) known.times += 1;
    else failed.set(what, { times: 1, first });
  };
  return {
    get requests() {
      return requests;
    },
    failed,
    breaches,
    ask: async (what, wanted, send) => {
      requests += 1;
      try {
        const answer = await send();
        if (wanted.includes(answer.status)) return answer;
        fail(what, `${answer.status} ${answer.text.slice(0, 400)}`);
      } catch (error) {
        fail(what, inspect(error).slice(0, 600));
      }
      return undefined;
    },
    same: (what, seen, wanted) => {
      if (!isDeepStrictEqual(seen, wanted)) breaches.push(`${what}: ${shown(seen)}, not ${shown(wanted)}`);
    },
    breach: (sentence) => void breaches.push(sentence),
  };
}

const shown = (value: unknown) => inspect(value, { breakLength: Infinity, depth: 5 }).slice(0, 400);
