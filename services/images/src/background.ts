import { createPoller } from '@vision/shared/async/poller';
import type { Logger } from '@vision/shared/logger';
import type { Config } from './config.ts';
import { recoverDeadCalls } from './use-cases/recover-dead-calls.ts';
import type { RecoverDeps } from './use-cases/recover-dead-calls.ts';
import { runRetention } from './use-cases/run-retention.ts';
import type { RetentionDeps } from './use-cases/run-retention.ts';
import { sweepOrphanPictures } from './use-cases/sweep-orphan-pictures.ts';
import type { SweepDeps } from './use-cases/sweep-orphan-pictures.ts';

export interface Background {
  stop: () => Promise<void>;
}

/** What runs without being asked: recovery, the sweep and retention. Every replica may run them at the same time. */
export function startBackground(
  deps: RecoverDeps & RetentionDeps & SweepDeps,
  { config, logger }: { config: Config; logger: Logger },
): Background {
  const once = (name: string, intervalMs: number, run: (signal: AbortSignal) => Promise<unknown>) =>
    createPoller({
      name,
      intervalMs,
      logger,
      run: async (signal) => {
        await run(signal);
        return 0;
      },
    });
  const pollers = [
    createPoller({
      name: 'recovery',
      intervalMs: config.RECOVERY_INTERVAL_MS,
      logger,
      run: () => recoverDeadCalls(deps),
    }),
    once('orphan-sweep', config.SWEEP_INTERVAL_MS, () => sweepOrphanPictures(deps, new Date())),
    once('retention', config.RETENTION_INTERVAL_MS, (signal) => runRetention(deps, signal)),
  ];
  for (const poller of pollers) poller.start();
  return {
    stop: async () => {
      await Promise.all(pollers.map((poller) => poller.stop()));
    },
  };
}
