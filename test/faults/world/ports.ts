/** Distances from the first port of the copy, beyond those of `deploy/local/settings.ts`. */
export const portBlocks = {
  replicas: [70, 130],
  /** One Kafka listener for each replica that talks to the broker. */
  kafkaListeners: 182,
  secondPostgres: 192,
  rtmp: 193,
  hls: 194,
  rtsp: 195,
} as const;
