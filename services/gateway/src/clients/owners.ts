import { createServiceClient } from '@vision/shared/http/service-client';
import type { ServiceClient } from '@vision/shared/http/service-client';
import type { Logger } from '@vision/shared/logger';
import type { Config } from '../config.ts';

/** The services that own what an operator asks for. */
export type Owner = 'tasks' | 'images' | 'results' | 'quota';
export type Owners = Record<Owner, ServiceClient>;

export function ownerUrls(config: Config): Record<Owner, string> {
  return {
    tasks: config.TASKS_URL,
    images: config.IMAGES_URL,
    results: config.RESULTS_URL,
    quota: config.QUOTA_URL,
  };
}

export function createOwners(config: Config, logger: Logger): Owners {
  const client = ([audience, baseUrl]: [string, string]) =>
    [
      audience,
      createServiceClient({
        baseUrl,
        issuer: 'gateway',
        audience,
        tokenKey: config.INTERNAL_TOKEN_KEY,
        logger,
        timeoutMs: config.ADMIN_CALL_TIMEOUT_MS,
      }),
    ] as const;
  return Object.fromEntries(Object.entries(ownerUrls(config)).map(client)) as Owners;
}
