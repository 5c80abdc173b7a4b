import { z } from 'zod';
import { ConfigError, flag, list } from '@vision/shared/config';
import { certificateFile, privateKeyFile, tlsFromFiles } from '@vision/shared/pem-file';
import type { KafkaConnection } from './kafka.ts';
import { loginConfig, loginOf } from './login-config.ts';
import { topicsSetting } from './topics-config.ts';

/** Settings of everything that speaks to the brokers. */
export const kafkaConfig = {
  KAFKA_BROKERS: list('')
    .refine((brokers) => brokers.length > 0, 'at least one broker')
    .refine((brokers) => brokers.every((broker) => /^[^\s/]+:\d{1,5}$/.test(broker)), 'host:port, comma separated')
    .describe('Kafka brokers, host:port, comma separated'),
  TOPIC_PREFIX: z.string().default('').describe('Prefix of every topic and consumer group'),
  TOPICS: topicsSetting
    .optional()
    .describe(
      'Expected topic settings as JSON: partitions, replicationFactor, minInsyncReplicas and retentionMs of default, tasks, images, results, frames, jobs, rules, alarms and deadLetters; `visionctl topics apply` applies them',
    ),
  KAFKA_COMPRESSION: z
    .enum(['none', 'zstd'])
    .default('none')
    .describe(
      'Compression of what a service publishes; zstd needs every replica of every service to be of 0.4 or later',
    ),
  KAFKA_TLS: flag(false).describe('Use TLS for the brokers and verify their host names'),
  KAFKA_CA_FILE: certificateFile
    .optional()
    .describe('PEM file with the certificate authorities for the brokers, instead of those of Node.js'),
  KAFKA_CERT_FILE: certificateFile.optional().describe('PEM file with the client certificate for the brokers'),
  KAFKA_KEY_FILE: privateKeyFile.optional().describe('PEM file with the private key of the client certificate'),
  ...loginConfig,
};

export type KafkaConfig = z.output<z.ZodObject<typeof kafkaConfig>>;

/** How to reach the brokers, in the words of the code. @throws ConfigError when settings do not go together. */
export function kafkaConnection(config: KafkaConfig): KafkaConnection {
  const { KAFKA_CERT_FILE: cert, KAFKA_KEY_FILE: key, KAFKA_CA_FILE: ca } = config;
  if (!config.KAFKA_TLS && (ca ?? cert ?? key) !== undefined)
    throw new ConfigError('KAFKA_CA_FILE, KAFKA_CERT_FILE and KAFKA_KEY_FILE are for KAFKA_TLS=true');
  if ((cert === undefined) !== (key === undefined))
    throw new ConfigError('KAFKA_CERT_FILE and KAFKA_KEY_FILE are needed together');
  return {
    brokers: config.KAFKA_BROKERS,
    topicPrefix: config.TOPIC_PREFIX,
    compression: config.KAFKA_COMPRESSION,
    tls: config.KAFKA_TLS ? tlsFromFiles({ ca, cert, key }) : undefined,
    login: loginOf(config),
  };
}
