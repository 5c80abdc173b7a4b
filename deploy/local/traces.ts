import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureRunning } from './background.ts';
import { jarsOf } from './jars.ts';
import { portOf, urlOf } from './settings.ts';
import type { Settings } from './settings.ts';
import { answersOk } from './wait.ts';

/** Starts Zipkin, which keeps spans in memory only. */
export async function ensureTraces(settings: Settings): Promise<void> {
  const dir = jarsOf(settings, 'traces');
  const jar = readdirSync(dir).find((file) => file.startsWith('zipkin-server')) ?? '';
  const port = portOf(settings, 'traces');
  await ensureRunning(settings, {
    name: 'traces',
    command: 'java',
    args: ['-Xmx256m', '-XX:+UseSerialGC', '-jar', join(dir, jar)],
    port,
    env: { ...process.env, QUERY_PORT: String(port), MEM_MAX_SPANS: '100000' },
    ready: () => answersOk(`${urlOf(settings, 'traces')}/health`),
  });
}
