import { z } from 'zod';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../../use-cases/deps.ts';
import { listAudit } from '../../use-cases/list-audit.ts';

const auditEntry = z
  .object({
    id: z.int(),
    at: z.iso.datetime(),
    actor: z.string(),
    action: z.string(),
    target: z.string(),
    details: z.record(z.string(), z.unknown()),
    result: z.string().describe('done, refused: <reason>, failed, or pending if the outcome is unknown'),
  })
  .meta({ id: 'AuditEntry' });

const auditPage = z.object({ items: z.array(auditEntry) }).meta({ id: 'AuditPage' });

const exampleEntry: z.infer<typeof auditEntry> = {
  id: 17,
  at: '2026-03-15T08:30:00.000Z',
  actor: 'zoe@ops',
  action: 'maintenance.set',
  target: 'maintenance',
  details: { enabled: true, reason: 'new disks' },
  result: 'done',
};

export const listAuditRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'listAudit',
      method: 'get',
      path: '/admin/v1/audit',
      summary: 'Lists actions of operators, newest first',
      tag: 'Upkeep',
      audience: 'admin',
      query: z.strictObject({
        limit: z.coerce.number().int().min(1).max(1000).default(100),
        before: z.coerce.number().int().min(1).optional().describe('Id of the last entry of the page before'),
      }),
      responses: { 200: { description: 'One page', schema: auditPage, example: { items: [exampleEntry] } } },
    },
    async ({ query }) => {
      const entries = await listAudit(deps, query);
      return { status: 200, body: { items: entries.map((entry) => ({ ...entry, at: entry.at.toISOString() })) } };
    },
  );
