import { endedKeyReasons } from '@vision/contracts/webhook-keys';

/** Why a connection to a broker ended, or failed to open. */
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
