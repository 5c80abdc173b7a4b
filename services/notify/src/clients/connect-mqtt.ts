import { once } from 'node:events';
import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { MqttClient } from 'mqtt';
import { AddressError } from '@vision/shared/net/address-error';
import type { AddressPolicy } from '@vision/shared/net/address-policy';
import { inForeignSpan } from '@vision/shared/telemetry/foreign-span';
import type { MqttBroker, MqttUrl } from '../domain/mqtt-broker.ts';
import { MqttError } from '../domain/mqtt-failure.ts';
import type { MqttFailure } from '../domain/mqtt-failure.ts';

/** A connection to the broker of a caller. It publishes and never subscribes. */
export interface MqttSession {
  /** Resolves when the broker has acknowledged. @throws MqttError when the connection ends first. */
  publish: (topic: string, body: string) => Promise<void>;
  /** Aborts when the connection has ended; the reason is an MqttError. */
  ended: AbortSignal;
  /** Disconnects; closes the connection if the broker does not accept that. */
  close: () => Promise<void>;
}

interface ConnectRequest extends Omit<MqttBroker, 'url'> {
  url: MqttUrl;
  clientId: string;
  /** Cancels connecting. */
  signal: AbortSignal;
}

/** Connects to a broker. @throws MqttError, or the reason of the signal. */
export type ConnectMqtt = (request: ConnectRequest) => Promise<MqttSession>;

export interface MqttOptions {
  policy: AddressPolicy;
  /** Total time limit for name resolution, connection, TLS and the response to the login. */
  connectMs: number;
  /** Time limit for the acknowledgement of a message. */
  ackMs: number;
  /** Certificates to trust if an endpoint has none; undefined: those of Node.js. */
  ca?: string | undefined;
}

const SPAN = { tracer: 'vision.mqtt', name: 'connect to a broker' };
/** Interval of pings; a broker that does not answer one in half that time has failed. */
const KEEPALIVE_S = 30;
const GOODBYE_MS = 1_000;
const ANSWERS = new Set(['connack', 'puback', 'pingresp']);
/**
 * Bytes that a broker may send at first, for each message and per minute. A client that never subscribes needs only
 * acknowledgements from it, and a packet is held in memory until it is complete.
 */
const ALLOWED_BYTES = { atFirst: 4_096, perMessage: 64, perMinute: 256 } as const;

/**
 * Builds the function that connects to brokers. The name is resolved for each connection, every resolved address has to
 * comply with the address rules, and the connection goes to that one address.
 */
export function createConnectMqtt(options: MqttOptions): ConnectMqtt {
  return async (request) => {
    const late = AbortSignal.timeout(options.connectMs);
    const signal = AbortSignal.any([request.signal, late]);
    try {
      return await inForeignSpan(SPAN, request.url, () => open(options, { ...request, signal }));
    } catch (error) {
      request.signal.throwIfAborted();
      throw new MqttError(late.aborted ? 'timeout' : failureOf(error));
    }
  };
}

async function open(options: MqttOptions, request: ConnectRequest): Promise<MqttSession> {
  const { url, signal } = request;
  const address = await options.policy.resolvePinned(url, { deadlineMs: options.connectMs, signal });
  signal.throwIfAborted();
  const socket = socketTo(options, request, address);
  try {
    await once(socket, url.scheme === 'mqtts' ? 'secureConnect' : 'connect', { signal });
    return await logIn(options, request, socket);
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw error;
  }
}

function socketTo({ ca }: MqttOptions, { url, login, serverCa }: ConnectRequest, address: string): Socket {
  const { port } = url;
  if (url.scheme === 'mqtt') return connectTcp({ host: address, port });
  const trusted = serverCa ?? ca;
  const name = isIP(url.host) === 0 ? url.host.replace(/\.$/, '') : '';
  return connectTls({
    // The checked address; the name appears only in the TLS handshake.
    host: address,
    port,
    servername: name,
    ...(trusted === undefined ? {} : { ca: trusted }),
    ...(login && 'certificate' in login ? { cert: login.certificate, key: login.private_key } : {}),
  });
}

async function logIn({ ackMs, connectMs }: MqttOptions, request: ConnectRequest, socket: Socket): Promise<MqttSession> {
  const { login, clientId, signal } = request;
  const account = login && 'username' in login ? login : undefined;
  const ended = new AbortController();
  const end = (failure: MqttFailure) => {
    if (!ended.signal.aborted) ended.abort(new MqttError(failure));
    socket.destroy();
  };
  const allow = boundAnswers(socket, () => end('protocol_error'));
  const client = new MqttClient(() => socket, {
    protocolVersion: 4,
    clientId,
    clean: true,
    keepalive: KEEPALIVE_S,
    reconnectPeriod: 0,
    connectTimeout: connectMs,
    ...(account ? { username: account.username } : {}),
    ...(account?.password === undefined ? {} : { password: account.password }),
  });
  client.on('error', (error) => end(failureOf(error)));
  client.on('close', () => end('closed'));
  // A broker only answers a client that never subscribes.
  client.on('packetreceive', ({ cmd }) => {
    if (!ANSWERS.has(cmd)) end('protocol_error');
  });
  const onAbort = () => end('timeout');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await loggedIn(client, ended.signal);
  } catch (error) {
    client.end(true);
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  return {
    publish: (topic, body) => {
      allow();
      return acknowledged(client, { topic, body }, { ackMs, ended: ended.signal, end });
    },
    ended: ended.signal,
    close: async () => {
      await goodbye(client, ended.signal);
      // The library waits for a broker that never closes its end.
      end('closed');
    },
  };
}

function loggedIn(client: MqttClient, ended: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once('connect', () => resolve());
    ended.addEventListener('abort', () => reject(ended.reason as MqttError), { once: true });
  });
}

/** Ends a connection whose broker sends too much. @returns a function that permits the answer to one more message */
function boundAnswers(socket: Socket, end: () => void): () => void {
  const began = performance.now();
  let allowed: number = ALLOWED_BYTES.atFirst;
  let received = 0;
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
    const minutes = (performance.now() - began) / 60_000;
    if (received > allowed + minutes * ALLOWED_BYTES.perMinute) end();
  });
  return () => {
    allowed += ALLOWED_BYTES.perMessage;
  };
}

interface Acknowledging {
  ackMs: number;
  ended: AbortSignal;
  end: (failure: MqttFailure) => void;
}

function acknowledged(
  client: MqttClient,
  { topic, body }: { topic: string; body: string },
  { ackMs, ended, end }: Acknowledging,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onEnd = () => {
      finish(() => reject(ended.reason as Error));
    };
    const timer = setTimeout(() => end('timeout'), ackMs);
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      ended.removeEventListener('abort', onEnd);
      settle();
    };
    if (ended.aborted) {
      onEnd();
      return;
    }
    ended.addEventListener('abort', onEnd, { once: true });
    client.publish(topic, body, { qos: 1, retain: false }, (error) => {
      // A message that a broker rejects with a code of its own is not delivered, as is one without an answer.
      if (error) end(failureOf(error));
      else finish(resolve);
    });
  });
}

async function goodbye(client: MqttClient, ended: AbortSignal): Promise<void> {
  if (ended.aborted) {
    client.end(true);
    return;
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, GOODBYE_MS);
  ended.addEventListener('abort', () => resolve(), { once: true });
  client.end(false, {}, () => resolve());
  await promise;
  clearTimeout(timer);
}

/** Callers receive only these reasons: more would reveal hosts that they cannot reach. */
function failureOf(error: unknown): MqttFailure {
  if (error instanceof MqttError) return error.failure;
  if (error instanceof AddressError) return 'unreachable';
  const { code, message = '' } = error as { code?: unknown; message?: string };
  if (message === 'Keepalive timeout') return 'timeout';
  // Codes of MQTT: the broker rejected the login of this client.
  if (typeof code === 'number') return 'refused';
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET|ERR_SSL|ERR_OSSL|ERR_TLS|EPROTO/.test(String(code)))
    return 'tls_invalid';
  return code === undefined && /packet|parse|malformed|header|remaining|\back\b/i.test(message)
    ? 'protocol_error'
    : 'unreachable';
}
