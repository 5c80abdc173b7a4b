import { totalStopMs } from '@vision/shared/stop-times';
import type { StopSettings, StopTimes } from '@vision/shared/stop-times';
import { importFrom, serviceNames } from './services.ts';

/** What a stop of a service may take beyond DRAIN_DELAY_MS and SHUTDOWN_GRACE_MS. */
export async function fixedStopMs(root: string, service: string): Promise<number> {
  const module = (await importFrom(root, service, 'config.ts')) as { stopTimesOf: (of: StopSettings) => StopTimes };
  return totalStopMs(module.stopTimesOf({ DRAIN_DELAY_MS: 0, SHUTDOWN_GRACE_MS: 0 }));
}

/** docs/stop-times.json: how long a platform has to wait before it kills each service. */
export async function stopTimesDocument(root: string): Promise<string> {
  const fixedMs: Record<string, number> = {};
  for (const service of serviceNames) fixedMs[service] = await fixedStopMs(root, service);
  const about = 'Longest stop of a service = DRAIN_DELAY_MS + SHUTDOWN_GRACE_MS + fixedMs. Written by npm run docs.';
  return JSON.stringify({ about, fixedMs });
}
