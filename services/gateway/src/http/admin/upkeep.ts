import { z } from 'zod';
import { verificationReply } from '@vision/contracts/quota';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../../use-cases/deps.ts';
import { getMaintenance } from '../../use-cases/get-maintenance.ts';
import { runRetention } from '../../use-cases/run-retention.ts';
import { setMaintenance } from '../../use-cases/set-maintenance.ts';
import { verifyQuota } from '../../use-cases/verify-quota.ts';
import { actorOf, operatorHeaders, operatorInvalid, words } from './schemas.ts';

const maintenance = z
  .object({ enabled: z.boolean(), reason: z.string() })
  .meta({ id: 'Maintenance', description: 'Maintenance mode, which refuses new work' });
const exampleMaintenance: z.infer<typeof maintenance> = { enabled: true, reason: 'new disks' };
const maintenanceChange = z
  .strictObject({ enabled: z.boolean(), reason: words(500).default('') })
  .meta({ id: 'MaintenanceChange' });
const retentionReport = z
  .record(z.string(), z.record(z.string(), z.int()))
  .meta({ id: 'RetentionReport', description: 'Names and numbers of removed items, by service' });

export const getMaintenanceRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'getMaintenance',
      method: 'get',
      path: '/admin/v1/maintenance',
      summary: 'Returns whether maintenance is on',
      tag: 'Upkeep',
      audience: 'admin',
      responses: { 200: { description: 'The switch', schema: maintenance, example: exampleMaintenance } },
    },
    async () => ({ status: 200, body: await getMaintenance(deps) }),
  );

export const setMaintenanceRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'setMaintenance',
      method: 'put',
      path: '/admin/v1/maintenance',
      summary: 'Refuses new work, or accepts it again',
      description:
        'Takes effect on every replica within 2 s. Create requests get OP-TASK-BREAKER-OPEN; everything else continues.',
      tag: 'Upkeep',
      audience: 'admin',
      headers: operatorHeaders,
      body: maintenanceChange,
      bodyExample: exampleMaintenance,
      responses: { 200: { description: 'The switch', schema: maintenance, example: exampleMaintenance } },
      refusalExamples: () => [operatorInvalid()],
    },
    async ({ body, req }) => ({ status: 200, body: await setMaintenance(deps, { ...body, actor: actorOf(req) }) }),
  );

export const runRetentionRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'runRetention',
      method: 'post',
      path: '/admin/v1/retention/run',
      summary: 'Removes expired data now',
      tag: 'Upkeep',
      audience: 'admin',
      headers: operatorHeaders,
      responses: {
        200: {
          description: 'Removed items, by service',
          schema: retentionReport,
          example: { quota: { reservations: 12, counters: 3 }, results: { partitions: 1, tasks: 40 } },
        },
      },
      refusalExamples: () => [operatorInvalid(), fail.sysUnavailable('results_unavailable')],
    },
    async ({ req }) => ({ status: 200, body: await runRetention(deps, actorOf(req)) }),
  );

export const verifyQuotaRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'verifyQuota',
      method: 'post',
      path: '/admin/v1/quota/verify',
      summary: 'Recomputes every quota counter from the ledger',
      tag: 'Upkeep',
      audience: 'admin',
      responses: {
        200: {
          description: 'Counters that differ from the ledger',
          schema: verificationReply,
          example: { counters: 210, reservations: 5314, differences: [] },
        },
      },
      refusalExamples: () => [fail.sysUnavailable('quota_unavailable')],
    },
    async ({ signal }) => ({ status: 200, body: await verifyQuota(deps, signal) }),
  );
