import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureRunning } from './background.ts';
import { jarsOf } from './jars.ts';
import { portOf, urlOf, type Settings } from './settings.ts';
import { answersOk } from './wait.ts';

/** Starts Zipkin with its OTLP receiver; spans live in memory only. */
export async function ensureTraces(settings: Settings): Promise<void> {
  const dir = jarsOf(settings, 'traces');
  const jar = (part: string) => join(dir, readdirSync(dir).find((file) => file.startsWith(part)) ?? part);
  const receiver = jar('zipkin-module-otel');
  await ensureRunning(settings, {
    name: 'traces',
    command: 'java',
    args: [
      '-Xmx256m',
      '-XX:+UseSerialGC',
      `-Dloader.path=${receiver},${receiver}!/lib`,
      '-Dspring.profiles.active=otel',
      '-cp',
      jar('zipkin-server'),
      'org.springframework.boot.loader.launch.PropertiesLauncher',
    ],
    port: portOf(settings, 'traces'),
    env: { ...process.env, QUERY_PORT: String(portOf(settings, 'traces')), MEM_MAX_SPANS: '100000' },
    ready: () => answersOk(`${urlOf(settings, 'traces')}/health`),
  });
}
