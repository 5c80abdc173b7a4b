import { refusal } from '../support/system.ts';
import type { Answer } from '../support/system.ts';

/** An answer in the words of the tables: status, code and reason. */
export const said = (answer: Pick<Answer, 'status' | 'body'>): string => refusal(answer).filter(Boolean).join(' ');

export const invalid = (reason: string) => `400 OP-TASK-REQUEST-INVALID ${reason}`;
export const NO_KEY = '401 OP-AUTH-REQUIRED api_key_invalid';
export const MISSING_KEY = '401 OP-AUTH-REQUIRED api_key_missing';
export const NOT_FOUND = '404 not_found';

/** What was seen, each once, in the order of the alphabet. */
export const each = (seen: readonly string[]): string => [...new Set(seen)].toSorted().join(', ');

/** What was seen and how often: `5 × 201, 35 × 429 …`. */
export function counted(seen: readonly string[]): string {
  const times = (one: string) => seen.filter((other) => other === one).length;
  return [...new Set(seen)]
    .toSorted()
    .map((one) => `${times(one)} × ${one}`)
    .join(', ');
}
