import { z } from 'zod';
import { difference } from '@vision/contracts/audit';
import { counterRepair, quotaKind } from '@vision/contracts/quota';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../../use-cases/deps.ts';
import { listDifferences, runAudits } from '../../use-cases/list-differences.ts';
import { repairCounter } from '../../use-cases/repair-counter.ts';
import { actorOf, operatorHeaders, operatorInvalid, subject, words } from './schemas.ts';

const differences = z
  .object({
    items: z.array(difference.extend({ service: z.string() })),
    unreachable: z.array(z.string()).describe('Services that did not answer'),
  })
  .meta({ id: 'Differences', description: 'Facts that must agree and have differed for a minute' });

const exampleDifferences: z.infer<typeof differences> = {
  items: [
    {
      service: 'quota',
      kind: 'quota_counter',
      id: '2026-03-15/video/acme',
      since: '2026-03-15T08:30:00.000Z',
      details: { used: 4, ledger: 3 },
    },
  ],
  unreachable: [],
};

const repair = z
  .strictObject({ subject, kind: quotaKind, day: z.iso.date(), reason: words(1000).min(1) })
  .meta({ id: 'NewCounterRepair' });

export const listDifferencesRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'listDifferences',
      method: 'get',
      path: '/admin/v1/differences',
      summary: 'Lists differences that the audits of the services found',
      tag: 'Upkeep',
      audience: 'admin',
      responses: { 200: { description: 'Empty if there are none', schema: differences, example: exampleDifferences } },
    },
    async ({ signal }) => ({ status: 200, body: await listDifferences(deps, signal) }),
  );

export const runAuditsRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'runAudits',
      method: 'post',
      path: '/admin/v1/differences/run',
      summary: 'Runs every audit now',
      description: 'Also returns differences younger than a minute, and checks work that is due later.',
      tag: 'Upkeep',
      audience: 'admin',
      responses: { 200: { description: 'Empty if there are none', schema: differences, example: exampleDifferences } },
    },
    async ({ signal }) => ({ status: 200, body: await runAudits(deps, signal) }),
  );

export const repairCounterRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'repairQuotaCounter',
      method: 'post',
      path: '/admin/v1/quota/repair',
      summary: 'Corrects a quota counter from its reservations',
      description:
        'Operator and reason are stored in the audit log and beside the ledger. Repeating it changes nothing.',
      tag: 'Upkeep',
      audience: 'admin',
      headers: operatorHeaders,
      body: repair,
      bodyExample: { subject: 'acme', kind: 'video', day: '2026-03-15', reason: 'found by the audit' },
      responses: {
        200: {
          description: 'Values of the counter before and after',
          schema: counterRepair,
          example: { subject: 'acme', kind: 'video', day: '2026-03-15', used_before: 4, used_after: 3 },
        },
      },
      refusalExamples: () => [
        operatorInvalid(),
        fail.notFound('There is no such counter.', 'counter_not_found'),
        fail.sysUnavailable('quota_unavailable'),
      ],
    },
    async ({ body, req }) => ({ status: 200, body: await repairCounter(deps, { ...body, actor: actorOf(req) }) }),
  );
