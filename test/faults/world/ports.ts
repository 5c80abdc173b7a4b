/** Distances from the first port of the copy, beyond those of `deploy/local/settings.ts`. */
export const portBlocks = {
  replicas: [70, 130],
  /** For each broker, one Kafka listener for each replica that talks to it. */
  kafkaListeners: [182, 198, 208],
  secondPostgres: 192,
  rtmp: 193,
  hls: 194,
  rtsp: 195,
  moreBrokers: [196, 197],
} as const;
