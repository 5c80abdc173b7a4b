import type { Rotation, Stage } from '../rotation.ts';
import { inferenceToken, signingKeys } from './calls.ts';
import { adminToken, cursorKeys, peppers, streamKey } from './keys.ts';
import { linkKeys } from './link-keys.ts';
import { databases, redis, s3 } from './stores.ts';
import { webhookKeys } from './webhook-keys.ts';

/** The token of the backend goes first: without it services show each other the tokens that they sign. */
export const rotationsOn = (stage: Stage): Rotation[] => [
  inferenceToken(stage),
  signingKeys(stage),
  peppers(stage),
  adminToken(stage),
  streamKey(stage),
  linkKeys(stage),
  webhookKeys(stage),
  cursorKeys(stage, 'tasks'),
  cursorKeys(stage, 'results'),
  databases(stage),
  redis(stage),
  s3(stage),
];
