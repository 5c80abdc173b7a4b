import type { Job } from '@vision/shared/contracts/inference';
import type { Deps } from './deps.ts';

export type ReconcileDeps = Pick<
  Deps,
  'db' | 'clock' | 'inference' | 'results' | 'signals' | 'logger' | 'limits' | 'wakeRelay'
>;

/** What one round looks at: two instants and what the backend has. */
export interface Round {
  now: Date;
  today: Date;
  jobs: Map<string, Job>;
  isMassMissing: boolean;
}
