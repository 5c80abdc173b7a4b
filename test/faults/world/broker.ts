import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import type { FaultProxy } from '@vision/shared/testing/fault-proxy';
import { until } from '@vision/shared/testing/until';
import { findProgram } from '../../../deploy/local/host-programs.ts';
import { isPortFree } from '../../../deploy/local/wait.ts';
import type { Settings } from '../../../deploy/local/settings.ts';
import { subscribe } from '../../../services/notify/test/brokers.ts';
import type { Message } from '../../../services/notify/test/brokers.ts';
import { portBlocks } from './ports.ts';
import { isThere } from './streams.ts';

/** An MQTT broker of callers, and a subscriber to everything that is published there. */
export interface MqttBroker {
  url: string;
  messages: Message[];
  /** Between the services and the broker. */
  link: FaultProxy;
  signal: (signal: NodeJS.Signals) => void;
  /** Ends it in order and starts it anew; what it has acknowledged it still has. */
  restart: (pauseMs: number) => Promise<void>;
  close: () => Promise<void>;
}

/** Debian's mosquitto; undefined where it is not installed. */
export async function startMqttBroker(settings: Settings, random: () => number): Promise<MqttBroker | undefined> {
  if (!isThere('mosquitto', 'MQTT')) return undefined;
  const folder = join(settings.localDir, 'mosquitto');
  mkdirSync(folder, { recursive: true });
  const port = settings.portBase + portBlocks.mqtt;
  const file = join(folder, 'mosquitto.conf');
  writeFileSync(file, configuration(folder, port));
  let child: ChildProcess | undefined;
  const end = () => child?.kill('SIGKILL');
  process.once('exit', end);
  const start = async () => {
    child = spawn(findProgram('mosquitto') ?? 'mosquitto', ['-c', file], { stdio: 'ignore' });
    await until(async () => !(await isPortFree(port)), { timeoutMs: 20_000 });
  };
  const stop = async () => {
    const ended = child && child.exitCode === null ? once(child, 'exit') : undefined;
    child?.kill('SIGTERM');
    await ended;
  };
  await start();
  const link = await startFaultProxy({ host: '127.0.0.1', port }, random);
  const subscriber = await subscribe(port, SESSION);
  return {
    url: `mqtt://127.0.0.1:${link.port}`,
    messages: subscriber.messages,
    link,
    signal: (signal) => child?.kill(signal),
    restart: async (pauseMs) => {
      await stop();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      await start();
    },
    close: async () => {
      await subscriber.close();
      await link.close();
      await stop();
      process.off('exit', end);
    },
  };
}

/** It keeps what is queued for a subscriber, also over an end in order. */
const configuration = (folder: string, port: number) =>
  [
    `listener ${port} 127.0.0.1`,
    'allow_anonymous true',
    'user root',
    'persistence true',
    `persistence_location ${folder}/`,
    'max_queued_messages 0',
    '',
  ].join('\n');

/** It outlives connections, so the subscriber misses nothing that the broker has acknowledged. */
const SESSION = { clientId: 'fault-suite', clean: false };
