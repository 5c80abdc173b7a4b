/** What instrumented code tells while an input runs. One for each thread; instrumented modules find it by `GLOBAL`. */
export interface Feedback {
  /** How often each edge was passed, modulo 256. */
  edges: Uint8Array;
  edgeCount: number;
  /** The last comparisons of numbers or texts that failed, as pairs; a ring. */
  compared: unknown[];
  at: number;
  /** Literals of the instrumented sources. */
  words: Set<string | number>;
  /** `a === b`, noted when it is false. */
  same: (a: unknown, b: unknown) => boolean;
  /** Notes the two sides of `<`, `>` and the like. */
  note: (a: unknown, b: unknown) => boolean;
}

export const GLOBAL = '__visionFuzz';

const MAX_EDGES = 1 << 16;
const MAX_COMPARED = 512;
const LONGEST_TEXT = 64;

export function createFeedback(): Feedback {
  const feedback: Feedback = {
    edges: new Uint8Array(MAX_EDGES),
    edgeCount: 0,
    compared: Array.from({ length: MAX_COMPARED }),
    at: 0,
    words: new Set(),
    same: (a, b) => {
      if (a === b) return true;
      feedback.note(a, b);
      return false;
    },
    note: (a, b) => {
      if (isTelling(a) && typeof a === typeof b && isTelling(b)) {
        feedback.compared[feedback.at] = a;
        feedback.compared[feedback.at + 1] = b;
        feedback.at = (feedback.at + 2) % MAX_COMPARED;
      }
      return true;
    },
  };
  return feedback;
}

function isTelling(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_TEXT;
}
