import { X509Certificate, createPrivateKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import { parseStrictUrl } from '@vision/shared/net/strict-url';
import type { StrictUrl, TextRules } from '@vision/shared/net/strict-url';
import type { SecretBox } from '@vision/shared/secret-box';

/** Login of an endpoint: a password, or a certificate. PEM. */
export type MqttLogin =
  { username: string; password?: string | undefined } | { certificate: string; private_key: string };

/** A broker of a caller, and the login to it. All of it is secret. */
export interface MqttBroker {
  url: string;
  login?: MqttLogin | undefined;
  /** Authorities (PEM) to trust instead of the public ones. */
  serverCa?: string | undefined;
}

export type MqttUrl = StrictUrl<'mqtt' | 'mqtts'>;

export interface MqttRules {
  policy: TextRules;
  /** Whether addresses may begin with `mqtt://`: without TLS. */
  allowsPlain: boolean;
}

/** Maximum number of MQTT endpoints of a subject. */
export const MAX_MQTT_ENDPOINTS = 10;

const ports = { mqtt: 1883, mqtts: 8883 } as const;
/** A signature with a longer key takes seconds of processor time for each connection. */
const MAX_RSA_BITS = 4096;

/**
 * Parses the address of a broker. Its name is resolved at each connection, not here.
 * @throws AppError OP-TASK-REQUEST-INVALID `mqtt_url_invalid`; the message contains no part of the address.
 */
export function parseMqttUrl(text: unknown, { policy, allowsPlain }: MqttRules): MqttUrl {
  const url = parseStrictUrl(text, { defaultPorts: ports, policy, refuse: mqttUrlInvalid });
  if (url.scheme === 'mqtt' && !allowsPlain) throw mqttUrlInvalid('must begin with mqtts://');
  if (url.user !== '' || url.password !== '') throw mqttUrlInvalid('may not hold a user name; send it in login');
  if (url.pathAndQuery !== '/')
    throw mqttUrlInvalid('may not have a path; send the beginning of topics in topic_prefix');
  return url;
}

export function mqttUrlInvalid(words: string): AppError {
  return fail.requestInvalid('mqtt_url_invalid', `The url ${words}.`, { field: 'url' });
}

/**
 * Validates PEM texts: a certificate with its own private key, and authorities.
 * @throws AppError OP-TASK-REQUEST-INVALID `mqtt_login_invalid`; the message contains no part of them.
 */
export function checkMqttCertificates({ login, serverCa }: Omit<MqttBroker, 'url'>): void {
  if (serverCa !== undefined) certificateOf(serverCa, 'server_ca');
  if (!login || !('certificate' in login)) return;
  const certificate = certificateOf(login.certificate, 'login');
  const key = privateKeyOf(login.private_key);
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) > MAX_RSA_BITS)
    throw mqttLoginInvalid(`login: private_key may have ${MAX_RSA_BITS} bits at most, or be one of an elliptic curve`);
  if (!certificate.checkPrivateKey(key)) throw mqttLoginInvalid('login: private_key does not belong to certificate');
}

function certificateOf(pem: string, field: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw mqttLoginInvalid(`${field}: send certificates in PEM, beginning with -----BEGIN CERTIFICATE-----`, field);
  }
}

function privateKeyOf(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw mqttLoginInvalid('login: send private_key in PEM, without a passphrase');
  }
}

function mqttLoginInvalid(message: string, field = 'login'): AppError {
  return fail.requestInvalid('mqtt_login_invalid', `${message}.`, { field });
}

const contextOf = (endpointKey: string) => `mqtt broker ${endpointKey}`;

/** Encrypts a broker; the box can be opened for its own endpoint only. */
export const sealBroker = (box: SecretBox, endpointKey: string, broker: MqttBroker): Buffer =>
  box.seal(JSON.stringify(broker), contextOf(endpointKey));

/** @throws Error when the key of the box is unknown. */
export const openBroker = (box: SecretBox, endpointKey: string, sealed: Buffer): MqttBroker =>
  JSON.parse(box.open(sealed, contextOf(endpointKey))) as MqttBroker;
