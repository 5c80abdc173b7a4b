import { example, form, jpeg, scene } from '../../support/system.ts';
import type { Caller } from '../../support/system.ts';
import { SERVED_SCENE } from '../model-server.ts';
import type { Scenario } from '../scenario.ts';
import { limits } from '../settings.ts';
import { asked } from './creates.ts';

const detect = async (caller: Caller, code: string) =>
  asked(await caller.detect(form(scene(code), jpeg(await example('street.jpg')))));

/** Image calls that wait for the model server, and for the quota. */
export const pictures: readonly Scenario[] = [
  {
    name: 'model-server',
    title: 'A model server is late with an image',
    broken: 'The model server of the scene (as Triton: Open Inference Protocol) takes the image and does not answer.',
    expected: { service: 'inference', upstream: 'triton', outcome: 'headers_timeout', limitMs: limits.modelMs },
    run: (_system, caller) => detect(caller, SERVED_SCENE),
  },
  {
    name: 'quota',
    title: 'Quota is frozen at an image call',
    broken: 'The process of the quota service is stopped; its port still takes connections.',
    expected: { service: 'images', upstream: 'quota', outcome: 'headers_timeout', limitMs: limits.quotaMs },
    run: ({ whileFrozen }, caller) => whileFrozen('quota', () => detect(caller, 'fire_smoke')),
  },
];
