import { runService } from '@vision/shared/run';
import { readConfig } from './config.ts';
import { createService, migrateDatabase } from './service.ts';

await runService({ name: 'results', readConfig, createService, migrate: migrateDatabase });
