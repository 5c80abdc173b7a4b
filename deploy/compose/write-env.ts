/** `make env`: writes `.env` for docker compose, with random secrets and the commit of the checkout. */
import { join } from 'node:path';
import { currentCommit } from '../../scripts/release/repository.ts';
import { root } from '../local/settings.ts';
import { writeComposeEnv } from './env.ts';

const made = writeComposeEnv(join(root, '.env'), currentCommit(root));
console.log(made.length > 0 ? `.env: wrote ${made.join(', ')}` : '.env: complete, nothing was changed');
