import { z } from 'zod';
import { verifyLedger } from '@vision/shared/contracts/quota';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import { listAudit } from '../../db/audit-log.ts';
import { readMaintenance } from '../../db/settings.ts';
import { OPERATOR } from '../../use-cases/operator-deps.ts';
import type { OperatorDeps } from '../../use-cases/operator-deps.ts';
import { runRetention } from '../../use-cases/run-retention.ts';
import { setMaintenance } from '../../use-cases/set-maintenance.ts';
import { actorOf, words } from './schemas.ts';

const maintenance = z.object({ enabled: z.boolean(), reason: z.string() });

export const getMaintenanceRoute = (deps: OperatorDeps): Route =>
  route(
    {
      operation: 'getMaintenance',
      method: 'get',
      path: '/admin/v1/maintenance',
      summary: 'Whether new work is kept out',
      audience: 'admin',
      responses: { 200: { description: 'The switch', schema: maintenance } },
    },
    async () => ({ status: 200, body: await readMaintenance(deps.db) }),
  );

export const setMaintenanceRoute = (deps: OperatorDeps): Route =>
  route(
    {
      operation: 'setMaintenance',
      method: 'put',
      path: '/admin/v1/maintenance',
      summary: 'Keep new work out, or let it in again',
      description:
        'In force on every replica within 2 s. Creates answer OP-TASK-BREAKER-OPEN; everything else goes on.',
      audience: 'admin',
      body: z.strictObject({ enabled: z.boolean(), reason: words(500).default('') }),
      responses: { 200: { description: 'The switch', schema: maintenance } },
    },
    async ({ body, req }) => ({ status: 200, body: await setMaintenance(deps, { ...body, actor: actorOf(req) }) }),
  );

export const runRetentionRoute = (deps: OperatorDeps): Route =>
  route(
    {
      operation: 'runRetention',
      method: 'post',
      path: '/admin/v1/retention/run',
      summary: 'Remove now what is over its time',
      audience: 'admin',
      responses: {
        200: {
          description: 'What each service removed',
          schema: z.record(z.string(), z.record(z.string(), z.unknown())),
        },
      },
      errors: ['OP-SYS-UNAVAILABLE'],
    },
    async ({ req }) => ({ status: 200, body: await runRetention(deps, actorOf(req)) }),
  );

export const verifyQuotaRoute = (deps: OperatorDeps): Route =>
  route(
    {
      operation: 'verifyQuota',
      method: 'post',
      path: '/admin/v1/quota/verify',
      summary: 'Recompute every quota counter from the ledger',
      audience: 'admin',
      responses: { 200: { description: 'Where they differ', schema: verifyLedger.reply } },
      errors: ['OP-SYS-UNAVAILABLE'],
    },
    async ({ signal }) => ({
      status: 200,
      body: await deps.owners.quota.ask(verifyLedger, { subject: OPERATOR, signal }),
    }),
  );

const auditEntry = z.object({
  id: z.int(),
  at: z.iso.datetime(),
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  details: z.record(z.string(), z.unknown()),
  result: z.string().describe('done, refused: <reason>, failed, or pending when the outcome was never learnt'),
});

export const listAuditRoute = (deps: OperatorDeps): Route =>
  route(
    {
      operation: 'listAudit',
      method: 'get',
      path: '/admin/v1/audit',
      summary: 'What operators did, newest first',
      audience: 'admin',
      query: z.strictObject({
        limit: z.coerce.number().int().min(1).max(1000).default(100),
        before: z.coerce.number().int().min(1).optional().describe('Id of the last entry of the page before'),
      }),
      responses: { 200: { description: 'One page', schema: z.object({ items: z.array(auditEntry) }) } },
    },
    async ({ query }) => {
      const entries = await listAudit(deps.db, query.limit, query.before);
      return { status: 200, body: { items: entries.map((entry) => ({ ...entry, at: entry.at.toISOString() })) } };
    },
  );
