import { runService } from '@vision/shared/run';
import { readConfig, stopTimesOf } from './config.ts';
import { migrations } from './db/migrations/list.ts';
import { createService } from './service.ts';

await runService({ name: 'results', readConfig, createService, migrations, stopTimesOf });
