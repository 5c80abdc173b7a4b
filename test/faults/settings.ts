/** Ordinary settings of the services, short enough that recovery can be watched. */
export const hastened = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'info',
  LEASE_MS: '4000',
  KEY_WAIT_MS: '8000',
  STOP_WAIT_MS: '3000',
  SUBMIT_TIMEOUT_MS: '2000',
  BREAKER_RESET_MS: '1000',
  RECOVERY_MS: '500',
  RECOVERY_INTERVAL_MS: '1000',
  RECONCILE_MS: '500',
  RESULTS_GRACE_MS: '5000',
  FRAME_PATIENCE_MS: '3000',
  // A job that its backend forgot gets no end mark: the alarms of its task are closed after this, within a check.
  END_PATIENCE_MS: '60000',
  AUDIT_INTERVAL_MS: '1000',
  AUDIT_AGE_MS: '5000',
  // So that the audit of stored videos looks at them before they are swept.
  BODY_TOTAL_MS: '20000',
  VANISH_MS: '10000',
  SWEEP_INTERVAL_MS: '5000',
  RETENTION_INTERVAL_MS: '5000',
  ORPHAN_AGE_MS: '50000',
  FULL_SWEEP_INTERVAL_MS: '30000',
  SWEEP_GRACE_MS: '0',
  // Frames go to the object store while things break, and pages are read from both.
  SEGMENT_YOUNG_MS: '3000',
  SEGMENT_INTERVAL_MS: '500',
  // Two processes of each service, and real video beside them.
  DATABASE_POOL: '6',
  DETECT_THREADS: '1',
  SAMPLE_FPS: '2',
  DECODE_MAX_SIDE: '160',
  JOBS_PER_WORKER: '9',
  LIVE_JOBS_PER_WORKER: '6',
  JOB_LEASE_MS: '4000',
  JOB_LEASE_MARGIN_MS: '1500',
  JOB_SEQ_STEP: '20',
  JOB_SEQ_WAIT_MS: '1000',
  JOB_POLL_MS: '300',
  SOURCE_NO_FRAME_MS: '5000',
  SOURCE_BACKOFF_MAX_MS: '2000',
  WEBHOOK_TIMEOUT_MS: '6000',
  MQTT_CONNECT_MS: '3000',
  MQTT_ACK_MS: '3000',
};

/** Of the last release beside this code: its checkout has no console built. */
export const ofLastRelease = { CONSOLE: 'false' };
