import { afterAll, beforeAll } from '@jest/globals';
import { createLogger } from '@vision/shared/logger';
import { readConfig } from '../../src/config.ts';
import { createService } from '../../src/service.ts';

export interface RunningInference {
  /** Known once the tests of the file run. */
  base: string;
  health: string;
}

/** The whole service on free ports, for the tests of one file. */
export function useInference(env: Record<string, string> = {}): RunningInference {
  const running: RunningInference = { base: '', health: '' };
  let stop = () => Promise.resolve();
  beforeAll(async () => {
    const config = readConfig({
      HOST: '127.0.0.1',
      PORT: '0',
      HEALTH_PORT: '0',
      DETECT_THREADS: '1',
      // A test about the time for an answer names its own.
      DETECT_ANSWER_MS: '200000',
      DEVELOPMENT_WITHOUT_TOKEN: 'true',
      ...env,
    });
    const onFatal = (error: unknown) => {
      throw error;
    };
    const service = await createService(config, { logger: createLogger('inference', 'silent'), onFatal });
    stop = async () => {
      for (const phase of service.stopPhases) await phase.stop();
    };
    await service.start();
    running.base = `http://127.0.0.1:${service.port}`;
    running.health = `http://127.0.0.1:${service.healthPort}`;
  });
  afterAll(() => stop());
  return running;
}
