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
      summary: 'How many jobs of each kind could begin now. A backend may do without; then only a submit tells.',
      audience: 'backend',
      responses: { 200: { description: 'The places of all workers.', schema: capacityReply } },
    },
    async () => ({ status: 200, body: await getCapacity(deps) }),
  );
