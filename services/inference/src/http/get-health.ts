import { healthReply, refusal } from '@vision/shared/contracts/inference';
import { route } from '@vision/shared/http/route';
import type { Detectors } from '../detectors/start-detectors.ts';

export const getHealthRoute = ({ detectors }: { detectors: Detectors }) =>
  route(
    {
      operation: 'getHealth',
      method: 'get',
      path: '/v1/health',
      summary: 'Whether the backend can take work, and which scenes it serves.',
      audience: 'backend',
      authenticated: false,
      responses: {
        200: { description: 'Ready.', schema: healthReply },
        503: { description: 'Not ready.', schema: refusal },
      },
    },
    async () => {
      const served = await detectors.served();
      if (served.length === 0) return { status: 503, body: { reason: 'no_model' }, headers: { 'Retry-After': '1' } };
      const scenes = served.map(({ scene, detector }) => ({
        scene_code: scene.scene_code,
        labels: scene.labels,
        lower_bound: scene.lower_bound,
        model: detector.model,
      }));
      return { status: 200, body: { status: 'ok', scenes } };
    },
  );
