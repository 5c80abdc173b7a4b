/** Distances from the first port of the copy, beyond those of `deploy/local/settings.ts`. */
export const portBlocks = {
  replicas: [70, 130],
  /** For each broker, one Kafka listener for each replica that talks to it. */
  kafkaListeners: [182, 200, 212],
  secondPostgres: 194,
  rtmp: 195,
  hls: 196,
  rtsp: 197,
  moreBrokers: [198, 199],
  mqtt: 224,
} as const;
