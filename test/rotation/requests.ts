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
      const isFull = !(outcome instanceof Error) && hasNoPlace(outcome);
      const counted = isFull ? `${operation} (no place for it)` : operation;
      totals.set(counted, (totals.get(counted) ?? 0) + 1);
      const says = isFull ? undefined : whatIsWrong(operation, outcome);
      if (says !== undefined) requests.fail(`${operation}: ${says}`);
    },
    fail: (says) => {
      const { during } = requests;
      failures.push({ during, says });
      console.log(`rotate     FAILED during ${during}: ${says}`);
    },
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

/** While one of two workers is replaced, the other may have no place for another video: a machine that is too small. */
const hasNoPlace = ({ status, body }: Answer): boolean =>
  status === 503 && (body['details'] as { reason?: string } | undefined)?.reason === 'inference_no_capacity';

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
