import { setOnStep } from '@vision/shared/crash-point';
import { runService } from '@vision/shared/run';
import type { RunningService, ServiceDefinition } from '@vision/shared/run';
import { hasten } from '@vision/shared/testing/hasten';
import { stepTraps } from './step-traps.ts';

/**
 * Runs the service that the first argument names as its own `main.ts` does, for suites that hasten it or kill it at a
 * step: the environment may also give its constants, and traps at its steps.
 */
const [name = '', ...args] = process.argv.slice(2);
const sources = new URL(`../../services/${name}/src/`, import.meta.url);
type Config = ReturnType<Definition['readConfig']>;
type Definition = ServiceDefinition<{ LOG_LEVEL: string }>;

// The types of what every service exports under these names; a service without them fails to start.
const { configSchema, readConfig, stopTimesOf, constants } = (await import(new URL('config.ts', sources).href)) as Pick<
  Definition,
  'configSchema' | 'readConfig' | 'stopTimesOf'
> & { constants: Record<string, number | string> };
const { createService } = (await import(new URL('service.ts', sources).href)) as Pick<Definition, 'createService'>;
const { migrations } = (await import(new URL('db/migrations/list.ts', sources).href)) as Pick<Definition, 'migrations'>;

setOnStep(stepTraps(process.env));
await runService<Config>(
  {
    name,
    configSchema: { shape: { ...configSchema.shape, ...constants } },
    readConfig: () => hasten(readConfig(), constants, process.env),
    createService: (config, context): Promise<RunningService> => createService(config, context),
    migrations,
    stopTimesOf,
    constants: {},
  },
  [process.execPath, 'main.ts', ...args],
);
