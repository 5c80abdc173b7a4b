import { backendStatusPath, serviceStatus } from '@vision/contracts/status';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';

export const getStatusRoute = ({ status }: Pick<Deps, 'status'>) =>
  route(
    {
      operation: 'getBackendStatus',
      method: 'get',
      path: backendStatusPath,
      summary: 'Returns the status of this process: database, Kafka, object store. Other backends need not have it.',
      audience: 'backend',
      responses: { 200: { description: 'Returned also if a dependency is not healthy', schema: serviceStatus } },
    },
    async () => ({ status: 200, body: await status.read() }),
  );
