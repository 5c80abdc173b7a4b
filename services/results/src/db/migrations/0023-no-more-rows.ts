import type { Migration } from '@vision/shared/db/migrate';
import { FaultError, wrong } from '@vision/shared/start/fault';

const ROWS_IN_USE =
  'This database still stores frames as rows, and this release stores segments only. With release 0.3, start results ' +
  'once with WRITE_SEGMENTS=true, when no replica of release 0.2 is left and going back to it is not wanted; then ' +
  'migrate again';
const ROWS_STAY =
  'This database has frames of release 0.1 that cannot become segments. Keep release 0.3 until their tasks have ' +
  'expired or were deleted, then migrate again';

/**
 * Changes nothing: it refuses a database whose frames have to be rows, before a process of this release runs on it.
 * Replicas of 0.2 read rows only, and may be there as long as `frame_form` says so. Late frames that a release before
 * 0.2 stored are found among rows only. All other rows are moved while this release runs.
 */
export const noMoreRows: Migration = {
  name: '0023-no-more-rows',
  up: async (db) => {
    const form = await db.raw<{ rows: unknown[] }>(`select from frame_form where form = 'rows'`);
    if (form.rows.length > 0) throw new FaultError(wrong(ROWS_IN_USE));
    const unlisted = await db.raw<{ rows: unknown[] }>(
      'select from ingests where late_listed <> late_position limit 1',
    );
    if (unlisted.rows.length > 0) throw new FaultError(wrong(ROWS_STAY));
  },
  down: () => Promise.resolve(),
};
