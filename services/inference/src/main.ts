import { runService } from '@vision/shared/run';
import { configSchema, constants, readConfig, stopTimesOf } from './config.ts';
import { migrations } from './db/migrations/list.ts';
import { createService } from './service.ts';

await runService({ name: 'inference', configSchema, readConfig, createService, migrations, stopTimesOf, constants });
