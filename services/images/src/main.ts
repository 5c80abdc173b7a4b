import { runService } from '@vision/shared/run';
import { readConfig } from './config.ts';
import { createService, migrateDatabase } from './service.ts';

await runService({ name: 'images', readConfig, createService, migrate: migrateDatabase });
