import type { Audit } from '@vision/shared/audit/auditor';
import { noteDifferences } from '@vision/shared/audit/differences';
import type { Found } from '@vision/shared/audit/differences';
import { findUnattended } from '../db/jobs.ts';
import type { Unattended } from '../db/jobs.ts';
import type { Deps } from './deps.ts';

const KIND = 'job_without_worker';
const PAGE = 500;

/** Jobs that have not ended and that no worker holds: read by the index of leases that ran out. */
export function auditJobs({ db }: Pick<Deps, 'db'>): Audit {
  return {
    kind: KIND,
    find: async () => {
      const unattended = await findUnattended(db, { limit: PAGE });
      await noteDifferences(db, KIND, unattended.map(toFound));
      return false;
    },
    confirm: async (ids) => (await findUnattended(db, { ids, limit: ids.length })).map(toFound),
  };
}

const toFound = ({ jobId, status, attempt }: Unattended): Found => ({
  id: jobId,
  details: { task_id: jobId, status, attempt },
});
