import { z } from 'zod';
import { exampleReplicaStatus, replicaStatus, serviceStatus } from '@vision/contracts/status';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../../use-cases/deps.ts';
import { readStatus } from '../../use-cases/read-status.ts';

const systemStatus = z
  .object({
    gateway: serviceStatus.describe('The gateway that was asked'),
    replicas: z.array(replicaStatus).describe('Every address of every other service'),
  })
  .meta({ id: 'SystemStatus' });

const example: z.infer<typeof systemStatus> = {
  gateway: {
    service: 'gateway',
    instance: 'gateway-5c4b/1',
    dependencies: [
      { name: 'database', ms: 1 },
      { name: 'redis', ms: 0 },
    ],
    breakers: [],
    lag: [],
  },
  replicas: [exampleReplicaStatus],
};

export const readStatusRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'readStatus',
      method: 'get',
      path: '/admin/v1/status',
      summary: 'Returns the status of every process: dependencies, breakers, outbox, lag',
      description:
        'Every address is asked that the name of a service resolves to. One that does not answer is listed with its ' +
        '`fault`. Behind a shared address one of the replicas answers.',
      tag: 'Upkeep',
      audience: 'admin',
      responses: {
        200: { description: 'Returned also if a dependency is not healthy', schema: systemStatus, example },
      },
    },
    async ({ signal }) => ({ status: 200, body: await readStatus(deps, signal) }),
  );
