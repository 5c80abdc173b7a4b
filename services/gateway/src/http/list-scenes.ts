import type { z } from 'zod';
import { sceneList } from '@vision/contracts/scenes';
import { route } from '@vision/shared/http/route';
import type { Scenes } from '@vision/shared/scenes';

const exampleScenes: z.infer<typeof sceneList> = {
  scenes: [
    {
      scene_code: 'person_vehicle',
      name: 'Persons and vehicles',
      description: 'Persons, bicycles, cars and other vehicles',
      enabled: true,
      labels: ['person', 'bicycle', 'car'],
      lower_bound: 0.3,
      default_min_score: 0.8,
      quality: {
        method: 'A small neural network. It judges each image and each frame of a video by itself.',
        measured_on: 'A surveillance video of a square in daylight, 665 people',
        figures: [{ measure: 'recall', label: 'person', input: 'video', min_score: 0.8, value: 0.84 }],
        limits: ["Objects lower than a twentieth of the image's height are missed."],
      },
    },
  ],
};

export const listScenesRoute = ({ scenes }: { scenes: Scenes }) =>
  route(
    {
      operation: 'listScenes',
      method: 'get',
      path: '/api/op/v1/scenes',
      summary: 'Lists the scenes with their labels, thresholds and measured quality',
      description:
        'Enabled scenes are valid values of `scene_code`. The list does not depend on the state of the inference backend.',
      tag: 'Scenes',
      audience: 'public',
      responses: { 200: { description: 'All scenes', schema: sceneList, example: exampleScenes } },
    },
    async () => ({ status: 200, body: { scenes: scenes.list } }),
  );
