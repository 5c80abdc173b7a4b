import { totalStopMs } from '@vision/shared/stop-times';
import type { StopSettings, StopTimes } from '@vision/shared/stop-times';
import { importFrom, serviceNames } from './services.ts';

/**
 * docs/stop-times.json: what a stop of each service may take beyond DRAIN_DELAY_MS and SHUTDOWN_GRACE_MS, for whoever
 * has to say how long a platform waits before it kills.
 */
export async function stopTimesDocument(root: string): Promise<string> {
  const none = { DRAIN_DELAY_MS: 0, SHUTDOWN_GRACE_MS: 0 };
  const fixed: Record<string, number> = {};
  for (const service of serviceNames) {
    const module = (await importFrom(root, service, 'config.ts')) as { stopTimesOf: (of: StopSettings) => StopTimes };
    fixed[service] = totalStopMs(module.stopTimesOf(none));
  }
  return JSON.stringify({
    about: 'Longest stop of a service = DRAIN_DELAY_MS + SHUTDOWN_GRACE_MS + fixedMs. Written by npm run docs.',
    fixedMs: fixed,
  });
}
