import { capacityReply } from '@vision/contracts/inference';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { getCapacity } from '../use-cases/get-capacity.ts';

export const getCapacityRoute = (deps: Pick<Deps, 'db' | 'settings' | 'sandbox'>) =>
  route(
    {
      operation: 'getCapacity',
      method: 'get',
      path: '/v1/capacity',
      summary: 'Returns how many jobs of each kind could begin now (optional)',
      audience: 'backend',
      responses: { 200: { description: 'Free job slots of all workers.', schema: capacityReply } },
    },
    async () => ({ status: 200, body: await getCapacity(deps) }),
  );
