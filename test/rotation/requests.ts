import type { Answer } from '../support/system.ts';

/** A request that should have been answered well and was not. */
export interface Failure {
  /** What was rotated meanwhile. */
  during: string;
  says: string;
}

/** Counts what clients ask, and keeps what went wrong. */
export interface Requests {
  /** Goes with everything that is asked from now on. */
  during: string;
  total: () => number;
  totals: () => ReadonlyMap<string, number>;
  failures: readonly Failure[];
  observe: (operation: string, outcome: Answer | Error) => void;
  fail: (says: string) => void;
  /** What is wrong when creates found no place for more than a few videos. */
  crowded: () => string[];
  /** The answer, if it is a good one. */
  ask: (operation: string, work: () => Promise<Answer>) => Promise<Answer | undefined>;
}

export function countRequests(): Requests {
  const totals = new Map<string, number>();
  const failures: Failure[] = [];
  const requests: Requests = {
    during: 'the start',
    total: () => [...totals.values()].reduce((sum, count) => sum + count, 0),
    totals: () => totals,
    failures,
    observe: (operation, outcome) => {
      const isFull = !(outcome instanceof Error) && hasNoPlace(operation, outcome);
      const counted = isFull ? refusedOf(operation) : operation;
      totals.set(counted, (totals.get(counted) ?? 0) + 1);
      const says = isFull ? undefined : whatIsWrong(operation, outcome);
      if (says !== undefined) requests.fail(`${operation}: ${says}`);
    },
    fail: (says) => {
      const { during } = requests;
      failures.push({ during, says });
      console.log(`rotate     FAILED during ${during}: ${says}`);
    },
    crowded: () => NEED_PLACES.flatMap((operation) => crowdedBy(totals, operation)),
    ask: async (operation, work) => {
      try {
        const answer = await work();
        requests.observe(operation, answer);
        return answer.status < 400 ? answer : undefined;
      } catch (error) {
        requests.observe(operation, error instanceof Error ? error : new Error(String(error)));
        return undefined;
      }
    },
  };
  return requests;
}

/** Creates of videos that real workers read, as the workload names them. */
const NEED_PLACES: readonly string[] = ['create real upload', 'create real stream'];
/** While one of two workers is replaced, the other may have no place for another video: a machine that is too small. */
const MOST_REFUSED = 0.1;

const refusedOf = (operation: string) => `${operation} (no place for it)`;

const hasNoPlace = (operation: string, { status, body }: Answer): boolean =>
  NEED_PLACES.includes(operation) &&
  status === 503 &&
  (body['details'] as { reason?: string } | undefined)?.reason === 'inference_no_capacity';

function crowdedBy(totals: ReadonlyMap<string, number>, operation: string): string[] {
  const refused = totals.get(refusedOf(operation)) ?? 0;
  const all = refused + (totals.get(operation) ?? 0);
  return refused > all * MOST_REFUSED ? [`${operation}: ${refused} of ${all} found no place`] : [];
}

/** Every client here does what it may do, so only one refusal is in order: that of a stop which comes too late. */
function whatIsWrong(operation: string, outcome: Answer | Error): string | undefined {
  if (outcome instanceof Error) {
    const { cause } = outcome;
    return cause instanceof Error ? `${outcome.message} (${cause.message})` : outcome.message;
  }
  const { status, text } = outcome;
  if (status < 400 || (operation === 'stop' && status === 409)) return undefined;
  return `${status} ${text.slice(0, 300)}`;
}
