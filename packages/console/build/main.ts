/** `npm run build`: bundles the console into `dist`. */
import { join } from 'node:path';
import { buildConsole } from './build.ts';

await buildConsole(join(import.meta.dirname, '../dist'));
