import { startedPrograms, stopProgram } from './background.ts';
import type { Settings } from './settings.ts';

/** Signal that ends a part at once but cleanly, and how long that may take. Everything else gets SIGTERM. */
const manners: Record<string, { signal: NodeJS.Signals; graceMs: number }> = {
  // Waits for no client.
  postgres: { signal: 'SIGINT', graceMs: 20_000 },
  'postgres-2': { signal: 'SIGINT', graceMs: 20_000 },
};

const infrastructure = [
  's3',
  'kafka',
  'kafka-2',
  'kafka-3',
  'redis',
  'postgres',
  'postgres-2',
  'traces',
  'otlp',
  'prometheus',
];

/** Stops what this copy started: first the services, then what they stand on. */
export async function stopAll(settings: Settings): Promise<void> {
  await stopServices(settings);
  await Promise.all(startedPrograms(settings).map((name) => stopOne(settings, name)));
}

export async function stopServices(settings: Settings): Promise<void> {
  const services = startedPrograms(settings).filter((name) => !infrastructure.includes(name));
  await Promise.all(services.map((name) => stopOne(settings, name)));
}

export async function stopOne(settings: Settings, name: string): Promise<void> {
  const { signal, graceMs } = manners[name] ?? { signal: 'SIGTERM' as const, graceMs: 30_000 };
  await stopProgram(settings, name, signal, graceMs);
}
