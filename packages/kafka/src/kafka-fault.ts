import { isNativeError } from 'node:util/types';
import { away, codesOf, rootMessage, tlsFault, wrong } from '@vision/shared/start/fault';
import type { Fault } from '@vision/shared/start/fault';
import type { KafkaConnection } from './kafka.ts';
import { loginFaultOf } from './oauth/login-error.ts';

const names = {
  store: 'a broker',
  address: 'KAFKA_BROKERS',
  tls: 'KAFKA_TLS',
  ca: 'KAFKA_CA_FILE',
  cert: 'KAFKA_CERT_FILE',
};

/** Says in one sentence why the brokers cannot be used; undefined for errors that are not about the way there. */
export function kafkaFault(error: unknown, { brokers, login, tls }: KafkaConnection): Fault | undefined {
  if (!isNativeError(error)) return undefined;
  const message = rootMessage(error);
  const chain = chainOf(error);
  const refused = loginFaultOf(error);
  if (refused) return refused;
  const mechanism = login?.mechanism ?? '';
  const isRefused = chain.includes('KafkaJSSASLAuthenticationError');
  const isUnknown = message.includes('does not support the requested SASL mechanism');
  if (isUnknown || (isRefused && /not supported|not enabled/.test(message)))
    return wrong(`The brokers do not offer KAFKA_SASL_MECHANISM=${mechanism}: ${message}`);
  if (isRefused)
    return wrong(
      `The brokers refuse the login of KAFKA_USERNAME=${userOf(login)} by KAFKA_SASL_MECHANISM=${mechanism}: ` +
        'KAFKA_PASSWORD is wrong, or they know no such user',
    );
  const fault = tlsFault(error, names);
  if (fault) return fault;
  const list = `KAFKA_BROKERS=${brokers.join(',')}`;
  if (chain.includes('KafkaJSConnectionClosedError') || message.includes('Closed connection'))
    return away(
      `A broker of ${list} closed the connection: ${tls ? '' : 'KAFKA_TLS=true, '}` +
        `${login ? '' : 'a KAFKA_SASL_MECHANISM, '}${tls ? 'KAFKA_CERT_FILE ' : ''}may be missing, or it is starting`,
    );
  if (/^KafkaJS(Connection|NumberOfRetries|RequestTimeout|BrokerNotFound|LockTimeout)/.test(error.name))
    return away(`No broker of ${list} answers: ${codesOf(error)[0] ?? message}`);
  return undefined;
}

const userOf = (login: KafkaConnection['login']) => (login && 'username' in login ? login.username : '');

function chainOf(error: unknown): string[] {
  const found: string[] = [];
  for (let at = error; isNativeError(at) && found.length < 6; at = at.cause) found.push(at.name);
  return found;
}
