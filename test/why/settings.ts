/** Limits, short enough that every one of them can be waited for. Those of the model server are in its scene. */
export const limits = {
  submitMs: 1_500,
  quotaMs: 1_500,
  modelMs: 1_200,
  storeIdleMs: 2_000,
  readMs: 7_000,
  paceWindowMs: 3_000,
  /** Of every service; no setting. */
  poolMs: 5_000,
};

export const settings: Record<string, string> = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'info',
  SUBMIT_TIMEOUT_MS: String(limits.submitMs),
  QUOTA_TIMEOUT_MS: String(limits.quotaMs),
  S3_IDLE_MS: String(limits.storeIdleMs),
  UPSTREAM_READ_MS: String(limits.readMs),
  CLIENT_PACE_WINDOW_MS: String(limits.paceWindowMs),
  // Spans are there soon after they ended.
  OTEL_BSP_SCHEDULE_DELAY: '200',
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
};

/** Connections of the service whose pool is used up. */
export const QUOTA_POOL = 3;
