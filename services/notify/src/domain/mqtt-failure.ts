import { endedKeyReasons } from '@vision/contracts/webhook-keys';

/** Why a connection to a broker ended, or never began. */
export const mqttFailures = ['unreachable', 'timeout', 'tls_invalid', 'refused', 'closed', 'protocol_error'] as const;
export type MqttFailure = (typeof mqttFailures)[number];

/** A connection to a broker failed or ended. */
export class MqttError extends Error {
  override readonly name = 'MqttError';
  readonly failure: MqttFailure;

  constructor(failure: MqttFailure) {
    super(`the connection to the broker has ended: ${failure}`);
    this.failure = failure;
  }
}

/** Why an MQTT endpoint is disabled. `requested`: its owner did it. */
export const mqttDisabledReasons = ['failing', 'requested', ...endedKeyReasons] as const;
export type MqttDisabledReason = (typeof mqttDisabledReasons)[number];

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
const SPREAD = 0.2;

/** Pause before the next connection: doubled with each failure, up to five minutes, spread by a fifth. */
export function pauseAfter(failures: number, random = Math.random): number {
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 20), LONGEST_PAUSE_MS);
  return Math.round(pause * (1 - SPREAD + 2 * SPREAD * random()));
}
