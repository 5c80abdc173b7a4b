import type { Owner } from '@vision/contracts/public-operations';
import { createServiceClient } from '@vision/shared/http/service-client';
import type { ServiceClient, ServiceClientOptions } from '@vision/shared/http/service-client';

/** Clients of the services, for requests of operators. */
export type Owners = Record<Owner, ServiceClient>;

export function createOwners(
  urls: Record<Owner, string>,
  options: Pick<ServiceClientOptions, 'signer' | 'timeoutMs' | 'logger'>,
): Owners {
  const client = (audience: Owner) => createServiceClient({ ...options, baseUrl: urls[audience], audience });
  return {
    tasks: client('tasks'),
    images: client('images'),
    results: client('results'),
    quota: client('quota'),
    notify: client('notify'),
  };
}
