/** Uploads under way are younger. */
export const ORPHAN_AGE_MS = 5_000;

/**
 * Sweeps and retention at once, again and again, and without the day and the week that protect objects besides: here
 * nothing but the marks of the databases keeps what a restored one does not know.
 */
export const settings = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'info',
  RETENTION_INTERVAL_MS: '1000',
  SWEEP_INTERVAL_MS: '1000',
  FULL_SWEEP_INTERVAL_MS: '1000',
  ORPHAN_AGE_MS: String(ORPHAN_AGE_MS),
  SWEEP_GRACE_MS: '0',
  AUDIT_INTERVAL_MS: '1000',
  AUDIT_AGE_MS: '3000',
  // So that frames are in the bucket at once.
  SEGMENT_YOUNG_MS: '0',
  SEGMENT_INTERVAL_MS: '500',
};
