import { z } from 'zod';
import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { databaseClockConstants, flag, list, loadConfig, outboxConfig, serviceConfig } from '@vision/shared/config';
import { databaseConfig } from '@vision/shared/db/database-config';
import { standbyConfig } from '@vision/shared/db/standby-check';
import { kafkaConfig } from '@vision/kafka/kafka-config';
import { secretKeys } from '@vision/shared/secret-box';
import { servicePublicKeysConfig } from '@vision/shared/service-keys';
import { stopTimes } from '@vision/shared/stop-times';
import type { StopSettings } from '@vision/shared/stop-times';

const cursorKeys = list('').refine(
  (keys) => keys.length > 0 && keys.every((key) => key.length >= 32),
  'at least one, each of at least 32 characters',
);

export const configSchema = z.object({
  ...serviceConfig,
  ...databaseConfig,
  ...standbyConfig,
  ...kafkaConfig,
  ...outboxConfig,
  ...servicePublicKeysConfig,
  CURSOR_KEYS: cursorKeys.describe(
    'Secrets of event cursors, at least 32 characters each, comma separated; the first encrypts, all decrypt',
  ),
  EVENT_DAYS: z.coerce
    .number()
    .int()
    .min(8)
    .max(365)
    .default(30)
    .describe(
      'Days that events, and alarms after their last change, are retained; longer than Kafka retains what they are made of',
    ),
  WEBHOOK_KEYS: secretKeys
    .optional()
    .describe(
      'Encryption keys of addresses and secrets of webhook and MQTT endpoints: 32 bytes in base64, optionally <version>:<key>, comma separated; the first encrypts, all decrypt. Without it there are neither webhooks nor MQTT endpoints',
    ),
  WEBHOOK_ALLOW_HTTP: flag(false).describe('Whether webhook addresses may begin with http://'),
  WEBHOOK_ALLOWED_PORTS: list('443').describe(
    'Ports and port ranges that webhook addresses may use; addresses in WEBHOOK_ALLOWED_CIDRS may use any port',
  ),
  WEBHOOK_ALLOWED_CIDRS: list('').describe(
    'Non-public networks that webhook and MQTT addresses may point to, on any port',
  ),
  MQTT_ALLOW_PLAIN: flag(false).describe('Whether addresses of MQTT brokers may begin with mqtt://, without TLS'),
  MQTT_ALLOWED_PORTS: list('8883').describe(
    'Ports and port ranges that addresses of MQTT brokers may use; addresses in WEBHOOK_ALLOWED_CIDRS may use any port',
  ),
  WEBHOOK_DNS_SERVERS: list('').describe(
    'Name servers for hosts of webhooks and MQTT brokers, IP addresses with an optional :port; default: those of the system',
  ),
  WEBHOOK_CA_FILE: z
    .string()
    .optional()
    .describe('PEM file with certificate authorities for webhooks and MQTT brokers, in addition to those of Node.js'),
});

/** Values that operators do not change, with the settings in one configuration. Test suites shorten some of them. */
export const constants = {
  ...databaseClockConstants,
  /** Interval between two runs that remove expired events and alarms. */
  RETENTION_INTERVAL_MS: 3_600_000,
  /** Rows removed in one transaction. */
  RETENTION_BATCH: 5_000,
  /** Time limit for resolving the name of a webhook host, and for connecting to it. */
  WEBHOOK_CONNECT_MS: 3_000,
  /** Time limit of a webhook up to the head of the response; a delivery is leased for longer than 30 s. */
  WEBHOOK_TIMEOUT_MS: 15_000,
  /** Total time limit for resolving the name of an MQTT broker, connecting and logging in. */
  MQTT_CONNECT_MS: 10_000,
  /** Time limit for the acknowledgement of a message. */
  MQTT_ACK_MS: 30_000,
};

export type Config = z.output<typeof configSchema> & typeof constants;

export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  return { ...constants, ...loadConfig(configSchema, env) };
}

/** Longest time of each phase of a stop. */
export const stopTimesOf = (settings: StopSettings) =>
  stopTimes(settings, { http: settings.SHUTDOWN_GRACE_MS, background: 15_000, health: 2_000, database: 5_000 });

/**
 * Certificates (PEM) to trust for webhooks; undefined: those of Node.js alone.
 * @throws Error when the file cannot be read.
 */
export const webhookCertificates = ({ WEBHOOK_CA_FILE: file }: Config): string | undefined =>
  file === undefined ? undefined : [...rootCertificates, readFileSync(file, 'utf8')].join('\n');
