import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@vision/shared/testing/until';
import { root } from '../../../deploy/local/settings.ts';

/** Stops or kills a process at a step between two durable effects, the next time it gets there. */
export interface StepTrap {
  env: NodeJS.ProcessEnv;
  /** Resolves with whether the process got there in time. */
  spring: (step: string, signal: NodeJS.Signals, timeoutMs: number) => Promise<boolean>;
}

export function createStepTrap(file: string): StepTrap {
  return {
    env: { STEP_TRAP_FILE: file },
    spring: async (step, signal, timeoutMs) => {
      writeFileSync(`${file}.new`, `${step} ${signal}`);
      renameSync(`${file}.new`, file);
      const isTaken = async () => !existsSync(file);
      return until(isTaken, { timeoutMs, intervalMs: 50 }).then(
        () => true,
        () => {
          rmSync(file, { force: true });
          return false;
        },
      );
    },
  };
}

/** The names of the steps of a service, as its sources have them. */
export function stepsOf(service: string): string[] {
  const files = globSync(join(root, 'services', service, 'src/**/*.ts'));
  const names = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/crashPoint\('([^']+)'\)/g)].map(([, name = '']) => name),
  );
  return [...new Set(names)].sort();
}
