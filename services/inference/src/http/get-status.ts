import { backendStatusPath, serviceStatus } from '@vision/contracts/status';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';

export const getStatusRoute = ({ status }: Pick<Deps, 'status'>) =>
  route(
    {
      operation: 'getBackendStatus',
      method: 'get',
      path: backendStatusPath,
      summary: 'How this process stands: database, Kafka, object store. Another backend need not have it.',
      audience: 'backend',
      responses: { 200: { description: 'Also when something is not well.', schema: serviceStatus } },
    },
    async () => ({ status: 200, body: await status.read() }),
  );
