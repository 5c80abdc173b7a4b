import { sceneList } from '@vision/shared/contracts/scenes';
import { route } from '@vision/shared/http/route';
import type { Scenes } from '@vision/shared/scenes';

export const listScenesRoute = ({ scenes }: { scenes: Scenes }) =>
  route(
    {
      operation: 'listScenes',
      method: 'get',
      path: '/api/op/v1/scenes',
      summary: 'The scenes, their words and thresholds',
      description:
        'The enabled ones are valid as `scene_code`. The state of the inference backend never changes the list.',
      audience: 'public',
      responses: { 200: { description: 'All scenes', schema: sceneList } },
      errors: ['OP-AUTH-REQUIRED', 'OP-QUOTA-RATE-LIMITED'],
    },
    async () => ({ status: 200, body: { scenes: scenes.list } }),
  );
