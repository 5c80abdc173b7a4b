import { healthReply, refusal } from '@vision/contracts/inference';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { getHealth } from '../use-cases/get-health.ts';

export const getHealthRoute = (deps: Pick<Deps, 'detectors'>) =>
  route(
    {
      operation: 'getHealth',
      method: 'get',
      path: '/v1/health',
      summary: 'Returns whether the backend can accept work, and which scenes it serves',
      audience: 'backend',
      authenticated: false,
      responses: {
        200: { description: 'Ready.', schema: healthReply },
        503: { description: 'Not ready.', schema: refusal },
      },
    },
    async () => {
      const scenes = await getHealth(deps);
      return scenes.length === 0
        ? { status: 503, body: { reason: 'no_model' }, headers: { 'Retry-After': '1' } }
        : { status: 200, body: { status: 'ok', scenes } };
    },
  );
