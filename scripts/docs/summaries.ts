import type { RouteDefinition } from '@vision/shared/http/route';

/** An ending alone does not tell a verb from a plural: "Tasks of all subjects". */
const VERBS = new Set(
  (
    'Accepts Changes Charges Checks Claims Corrects Creates Deletes Detects Disables Ends Finds Lists Publishes Reads ' +
    'Recomputes Records Refunds Refuses Removes Replaces Reserves Resumes Returns Revokes Runs Searches Sends Stops ' +
    'Stores Streams Tries'
  ).split(' '),
);

/** Operations whose summary does not begin with a verb in the third person; a new verb is added to the list. */
export function summaryFaults(definitions: readonly Pick<RouteDefinition, 'operation' | 'summary'>[]): string[] {
  return definitions
    .filter(({ summary }) => !VERBS.has(summary.split(' ')[0] ?? ''))
    .map(
      ({ operation, summary }) => `${operation}: "${summary}" does not begin with a verb of scripts/docs/summaries.ts`,
    );
}
