/** `make env`: writes `.env` for docker compose, with random secrets. */
import { join } from 'node:path';
import { root } from '../local/settings.ts';
import { writeComposeEnv } from './env.ts';

const made = writeComposeEnv(join(root, '.env'));
console.log(made.length > 0 ? `.env: made ${made.join(', ')}` : '.env: complete, nothing was changed');
