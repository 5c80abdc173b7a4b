import type { ConnectionOptions } from 'node:tls';
import { CompressionTypes, Kafka, logLevel } from 'kafkajs';
import type { LogEntry, Mechanism, SASLOptions } from 'kafkajs';
import type { Logger } from '@vision/shared/logger';
import { createCounter } from '@vision/shared/telemetry/instruments';
import type { Counter } from '@vision/shared/telemetry/instruments';
import type { NoLabels } from '@vision/shared/telemetry/metric';
import { kafkaMetrics } from '@vision/shared/telemetry/shared-metrics';
import { oauthMechanism } from './oauth/oauth-mechanism.ts';
import type { OauthLogin } from './oauth/oauth-mechanism.ts';
import { REAUTHENTICATE_MS } from './reauthentication.ts';
import './failed-login.ts';
import './idle-queue.ts';
import './unanswered-requests.ts';
import './zstd.ts';

/** Longest wait for the answer to one request. */
export const ANSWER_MS = 10_000;

/** How to reach the brokers. */
export interface KafkaConnection {
  /** `host:port` of at least one broker. */
  brokers: string[];
  /** Put before every topic and group name: lets tests and several installations share a broker. */
  topicPrefix?: string;
  /** Of the batches that producers send; consumers read both. */
  compression?: 'none' | 'zstd';
  /** TLS with these authorities and this certificate; no TLS when absent. */
  tls?: ConnectionOptions | undefined;
  /** SASL; none when absent. */
  login?: KafkaLogin | undefined;
}

/** By user name and password, or by tokens of a token server. */
export type KafkaLogin = PasswordLogin | OauthLogin;

export interface PasswordLogin {
  mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  username: string;
  password: string;
}

export interface KafkaOptions extends KafkaConnection {
  clientId: string;
  logger: Logger;
  /** How often a request is tried before it fails; 9 when absent. */
  tries?: number;
}

/**
 * The connection settings that producers, consumers and the dead letter tools are made from. Nothing is connected yet.
 */
export interface KafkaClient {
  kafka: Kafka;
  compression: CompressionTypes;
  /** The name of a topic or consumer group on this broker. */
  nameOf: (name: string) => string;
  logger: Logger;
}

/** One per process. The kafkajs library is known to the files of this folder only. */
export function createKafka(options: KafkaOptions): KafkaClient {
  const { brokers, clientId, logger, topicPrefix = '', tls, login, tries = 9 } = options;
  const offsetResets = createCounter(kafkaMetrics.offsetResets);
  const kafka = new Kafka({
    clientId,
    brokers,
    ...(tls && { ssl: tls }),
    ...(login && { sasl: saslOf(login) }),
    reauthenticationThreshold: login?.mechanism === 'oauthbearer' ? login.reauthenticateMs : REAUTHENTICATE_MS,
    connectionTimeout: 5_000,
    requestTimeout: ANSWER_MS,
    enforceRequestTimeout: true,
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => passOn({ logger, offsetResets }, entry),
    retry: { initialRetryTime: 300, retries: tries - 1, maxRetryTime: 30_000 },
  });
  const compression = options.compression === 'zstd' ? CompressionTypes.ZSTD : CompressionTypes.None;
  return { kafka, compression, nameOf: (name) => `${topicPrefix}${name}`, logger };
}

const saslOf = (login: KafkaLogin): SASLOptions | Mechanism =>
  login.mechanism === 'oauthbearer' ? oauthMechanism(login) : (login as SASLOptions);

interface Told {
  logger: Logger;
  offsetResets: Counter<NoLabels>;
}

/** The library names its facts in camel case; our lines do not. */
const inSnakeCase = (facts: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
      value,
    ]),
  );

// kafkajs logs as errors what its own retries heal, so these become warnings; consumer and relay decide what is an
// error. One exception: after a lost position, records were skipped or will be read again.
function passOn({ logger, offsetResets }: Told, { namespace, level, log }: LogEntry): void {
  const content: Record<string, unknown> & { message: string } = log;
  const { message, timestamp: _timestamp, logger: _logger, stack: _stack, error, ...rest } = content;
  const facts = {
    ...inSnakeCase(rest),
    namespace,
    ...(error === undefined ? {} : { reason: error instanceof Error ? error.message : error }),
  };
  if (message.startsWith('Offset out of range, resetting')) {
    offsetResets.add(1);
    logger.error(facts, `kafka: ${message}`);
  } else if (level === logLevel.ERROR || level === logLevel.WARN) logger.warn(facts, `kafka: ${message}`);
  else logger.debug(facts, `kafka: ${message}`);
}
