import { runService } from '@vision/shared/run';
import { readConfig, stopTimesOf } from './config.ts';
import { migrations } from './db/migrations/list.ts';
import { createService } from './service.ts';

await runService({ name: 'notify', readConfig, createService, migrations, stopTimesOf });
