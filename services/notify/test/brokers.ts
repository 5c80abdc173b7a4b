import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo, ServerOpts, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import type { IClientOptions } from 'mqtt';
import { generate, parser } from 'mqtt-packet';
import type { Packet } from 'mqtt-packet';
import { findProgram } from '../../../deploy/local/host-programs.ts';
import { until } from '@vision/shared/testing/until';

/** A message as a subscriber gets it. */
export interface Message {
  topic: string;
  /** As it was published. */
  body: string;
  at: number;
  event_id: string;
  type: string;
  sequence: number;
  retain: boolean;
}

export interface Broker {
  port: number;
  stop: () => Promise<void>;
  /** Restarts it on the same port. */
  start: () => Promise<void>;
  close: () => Promise<void>;
}

/** Mosquitto of Debian on loopback, with these lines in its configuration. */
export async function startMosquitto(lines: string[] = ['allow_anonymous true']): Promise<Broker> {
  const dir = mkdtempSync(join(tmpdir(), 'vision-mosquitto-'));
  const port = await freePort();
  const file = join(dir, 'mosquitto.conf');
  writeFileSync(file, [`listener ${port} 127.0.0.1`, 'persistence false', 'user root', ...lines, ''].join('\n'));
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn(findProgram('mosquitto') ?? 'mosquitto', ['-c', file], { stdio: 'ignore' });
    await until(() => canConnect(port));
  };
  const stop = async () => {
    const ended = child && child.exitCode === null ? once(child, 'exit') : undefined;
    child?.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    port,
    start,
    stop,
    close: async () => {
      await stop();
      rmSync(dir, { recursive: true });
    },
  };
}

/** Collects everything that is published at a broker. */
export async function subscribe(port: number, options: IClientOptions = {}, scheme = 'mqtt') {
  const messages: Message[] = [];
  const client = await connectAsync(`${scheme}://127.0.0.1:${port}`, { ...options, reconnectPeriod: 100 });
  client.on('message', (topic, payload, { retain }) => {
    const body = payload.toString();
    const { event_id, type, sequence } = JSON.parse(body) as Message;
    messages.push({ topic, body, at: Date.now(), event_id, type, sequence, retain });
  });
  client.on('error', () => undefined);
  await client.subscribeAsync('#', { qos: 1 });
  return { messages, close: () => client.endAsync(true) };
}

/** Accepts logins and sends nothing more. */
export const acceptsOnly = (packet: Packet, socket: Socket): void => {
  if (packet.cmd === 'connect') accept(socket);
};

/** The same, and acknowledges messages. */
export const acknowledges = (packet: Packet, socket: Socket): void => {
  if (packet.cmd === 'connect') accept(socket);
  if (packet.cmd === 'publish') send(socket, { cmd: 'puback', messageId: packet.messageId ?? 0 });
};

/** An MQTT server that answers each packet as a test requires. */
export async function startFakeBroker(answer: (packet: Packet, socket: Socket) => void, options: ServerOpts = {}) {
  const received: Packet[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(options, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    const packets = parser();
    packets.on('packet', (packet: Packet) => {
      received.push(packet);
      answer(packet, socket);
    });
    packets.on('error', () => socket.destroy());
    socket.on('data', (chunk) => packets.parse(chunk));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    received,
    /** Sends a packet on all connections. */
    poke: () => {
      for (const socket of sockets) socket.write('.');
    },
    /** Connections that are open now. */
    open: () => sockets.size,
    connections: () => received.filter(({ cmd }) => cmd === 'connect').length,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export const send = (socket: Socket, packet: Packet) => socket.write(generate(packet));
export const accept = (socket: Socket, returnCode = 0) =>
  send(socket, { cmd: 'connack', returnCode, sessionPresent: false });

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
