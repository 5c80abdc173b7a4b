import { atMost } from './async/at-most.ts';
import { ConfigError, readStopSettings, readUnknownSettings, retiredSettings } from './config.ts';
import type { Constants } from './config.ts';
import { databaseConnection, readMigrateConfig } from './db/database-config.ts';
import { migrateOnce } from './db/migrate.ts';
import type { Migration } from './db/migrate.ts';
import { letHeapGrow } from './heap-growth.ts';
import { createLogger } from './logger.ts';
import type { Logger } from './logger.ts';
import { FaultError } from './start/fault.ts';
import { totalStopMs } from './stop-times.ts';
import type { StopPhase, StopSettings, StopTimes } from './stop-times.ts';
import { stopTelemetry } from './start/started.ts';

export interface RunningService {
  /** Opens listeners and starts consumers; resolves once requests can be served. */
  start: () => Promise<void>;
  /** In order: stop taking work in, consumers, relays, listeners, pools. Telemetry is flushed after the last. */
  stopPhases: StopPhase[];
}

export interface ServiceContext {
  logger: Logger;
  /** Ends the process with exit code 1 after an orderly stop; for faults that cannot heal by themselves. */
  onFatal: (error: unknown) => void;
}

export interface ServiceDefinition<C> {
  name: string;
  /** Every setting of the service, by its name. */
  configSchema: { shape: Record<string, unknown> };
  readConfig: () => C & { LOG_LEVEL: string };
  createService: (config: C, context: ServiceContext) => Promise<RunningService>;
  /** The schema of the own database, for `main.ts migrate`. */
  migrations: Migration[];
  /** How long a stop may take, for `main.ts stop-times`. */
  stopTimesOf: (settings: StopSettings) => StopTimes;
  /** What stands in the configuration and is no setting; a variable of such a name is warned about. */
  constants: Constants;
}

/**
 * The life of a service process. `main.ts migrate` brings the own database up to date, with the settings of the
 * database alone, and ends; `main.ts stop-times` prints how long a stop may take. Anything else serves until SIGTERM or
 * SIGINT, stops phase by phase (each with its own time limit; a second signal cuts it short), flushes telemetry and
 * lets the event loop run empty. Exit code 1 when start, a phase or the service itself failed.
 */
export async function runService<C>(definition: ServiceDefinition<C>, argv: string[] = process.argv): Promise<void> {
  let logger = createLogger(definition.name);
  try {
    const command = argv[2];
    if (command === 'migrate') {
      warnOfMisspelt(definition, logger);
      await runMigrations(definition, logger);
      await stopTelemetry();
      return;
    }
    if (command === 'stop-times') {
      printStopTimes(definition);
      return;
    }
    const config = definition.readConfig();
    logger = createLogger(definition.name, config.LOG_LEVEL);
    for (const unknown of readUnknownSettings({ shape: knownTo(definition) })) logger.warn(unknown, UNKNOWN_SETTING);
    for (const setting of retiredSettings(definition.constants)) logger.warn({ setting }, 'setting is no longer read');
    await serve(definition, config, logger);
  } catch (error) {
    if (error instanceof ConfigError || error instanceof FaultError) logger.fatal(error.message);
    else logger.fatal({ err: error }, 'start failed');
    process.exitCode = 1;
    await stopTelemetry();
    setTimeout(() => process.exit(), 1000).unref();
  }
}

const UNKNOWN_SETTING = 'unknown setting in the environment; it has no effect';

const knownTo = <C>({ configSchema, constants }: ServiceDefinition<C>) => ({ ...configSchema.shape, ...constants });

/** A job may have the variables of the service or fewer, so only names that are near to one of its settings count. */
function warnOfMisspelt<C>(definition: ServiceDefinition<C>, logger: Logger): void {
  const unknown = readUnknownSettings({ shape: knownTo(definition) });
  for (const setting of unknown) if (setting.meant !== undefined) logger.warn(setting, UNKNOWN_SETTING);
}

async function runMigrations<C>({ name, migrations }: ServiceDefinition<C>, logger: Logger): Promise<void> {
  const config = readMigrateConfig();
  const { url, sessionUrl = url, tls } = databaseConnection(config);
  // Its statements may take long, and its lock belongs to a session: nothing of it goes by a pooler.
  await migrateOnce({ url: sessionUrl, tls }, name, migrations);
  logger.info('database is up to date');
}

function printStopTimes<C>({ name, stopTimesOf }: ServiceDefinition<C>): void {
  const times = stopTimesOf(readStopSettings());
  process.stdout.write(`${JSON.stringify({ service: name, phasesMs: times, totalMs: totalStopMs(times) })}\n`);
}

async function serve<C>(definition: ServiceDefinition<C>, config: C, logger: Logger): Promise<void> {
  const running: { service?: RunningService } = {};
  let stopping: Promise<void> | undefined;
  const stop = (exitCode: number) => {
    if (exitCode !== 0) process.exitCode = exitCode;
    stopping ??= stopAll(running.service?.stopPhases ?? [], logger);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(process.exitCode ?? 1);
      logger.info({ signal }, 'stopping');
      stop(0);
    });
  }
  const onFatal = (error: unknown) => {
    logger.fatal({ err: error }, 'unrecoverable error; stopping');
    stop(1);
  };
  process.on('uncaughtException', onFatal);
  process.on('unhandledRejection', onFatal);
  letHeapGrow();
  running.service = await definition.createService(config, { logger, onFatal });
  await running.service.start();
  logger.info('started');
}

/**
 * Runs the phases one after the other; a phase that fails or takes too long is logged and does not hold up the next.
 */
export async function stopAll(phases: StopPhase[], logger: Logger): Promise<void> {
  for (const phase of phases) {
    try {
      if (!(await atMost(phase.timeoutMs, phase.stop()))) throw new Error(`not done after ${phase.timeoutMs} ms`);
    } catch (error) {
      process.exitCode = 1;
      logger.error({ err: error, phase: phase.name }, 'stop phase failed');
    }
  }
  logger.info('stopped');
  await stopTelemetry();
  setTimeout(() => process.exit(), 2000).unref();
}
