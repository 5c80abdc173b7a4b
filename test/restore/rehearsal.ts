import { until } from '@vision/shared/testing/until';
import type { ServiceName } from '../../deploy/local/service-environment.ts';
import { noteInstant, restoreAll } from './all-at-once.ts';
import { fill, isServed, isSweeper, isTold, missing, noteAll, recovered, reopenAll, sweep } from './checks.ts';
import { ORPHAN_AGE_MS } from './settings.ts';
import type { RestoreSystem } from './system.ts';

/** What a restore was, and what was wrong afterwards. */
export interface Drill {
  says: string;
  found: string[];
}

interface RehearsalOptions {
  /** Those whose database is set back alone. */
  services: readonly ServiceName[];
  /** Whether all of them are also set back to one instant. */
  allAtOnce: boolean;
  say: (text: string) => void;
}

const COPIES = ['older', 'empty'] as const;

/**
 * Fills the system, takes copies, fills it further, and then sets back one database after the other, and at last all of
 * them. After each alone the newest copy takes its place again, so every drill begins with the same system.
 */
export async function* rehearse(
  system: RestoreSystem,
  { services, allAtOnce, say }: RehearsalOptions,
): AsyncGenerator<Drill> {
  const instant = await noteInstant(system, await fill(system));
  say('the first objects are stored, and copies of that instant are taken');
  await fill(system);
  const filled = Date.now();
  await until(() => Date.now() > filled + ORPHAN_AGE_MS);
  await sweep(system);
  say(`the bucket holds ${(await system.objects()).length} objects`);
  for (const service of services) {
    for (const kind of COPIES) {
      const found = await drill(system, service, kind === 'older' ? instant.copies.get(service) : undefined);
      yield { says: `${service} restored to an ${kind} copy`, found };
    }
  }
  if (allAtOnce) yield { says: 'all databases restored to one instant', found: await restoreAll(system, instant) };
}

async function drill(system: RestoreSystem, service: ServiceName, copy: string | undefined): Promise<string[]> {
  const { copies, start, stop } = system;
  const before = await system.objects();
  await stop(service);
  const newest = await copies.take(service, 'newest');
  await copies.restore(service, copy);
  if (service === 'results' && copy !== undefined) await noteAll(system, before);
  if (copy !== undefined) await reopenAll(system, service);
  await start();
  await recovered(system, service);
  await sweep(system);
  const found = [
    ...(await isServed()),
    ...(await missing(system, before)),
    ...(copy !== undefined && isSweeper(service) ? await isTold(system, service) : []),
  ];
  await stop(service);
  await copies.restore(service, newest);
  await start();
  await sweep(system);
  return [...found, ...(await missing(system, before)).map((fault) => `with the newest copy again: ${fault}`)];
}
