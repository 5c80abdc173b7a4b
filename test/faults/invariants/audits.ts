import { admin } from '../../support/system.ts';
import { computeDifferences, nameOf } from '../differences.ts';
import type { Stored } from '../state.ts';
import type { Invariant } from './invariant.ts';

export const auditInvariants: Invariant[] = [
  {
    id: 'audits',
    says: 'The audits have checked everything and report no difference, and there is none',
    check: auditBreaches,
  },
];

export async function auditBreaches(state: Stored): Promise<string[]> {
  const lists = await Promise.all([listed(), noticed(state), computed(state), unseen(state)]);
  return lists.flat();
}

/** As operators see it. */
async function listed(): Promise<string[]> {
  const { status, text, body } = await admin('GET', '/admin/v1/differences');
  const { items = [], unreachable = [] } = body as { items?: unknown[]; unreachable?: unknown[] };
  return status === 200 && items.length === 0 && unreachable.length === 0 ? [] : [`listed: ${status} ${text}`];
}

/** Those that are too young to be listed. */
async function noticed({ stores }: Stored): Promise<string[]> {
  const lists = await Promise.all(
    ['tasks', 'images', 'results', 'quota', 'inference'].map(async (service) => {
      const rows = await stores.query<{ kind: string; id: string; details: object }>(
        service,
        'select kind, id, details from audit_differences',
      );
      return rows.map((row) => `noticed by ${service}: ${nameOf(row)} ${JSON.stringify(row.details)}`);
    }),
  );
  return lists.flat();
}

async function computed(state: Stored): Promise<string[]> {
  return (await computeDifferences(state)).map((one) => `noticed by nobody but this suite: ${nameOf(one)}`);
}

/**
 * Changes that no audit has looked at yet: while there are any, an empty list means nothing. Those of a clock that was
 * ahead have their turn when it gets there.
 */
async function unseen({ stores }: Stored): Promise<string[]> {
  const questions = [
    {
      service: 'results',
      what: 'ended tasks',
      sql: `select 1 from task_views where ended_at is not null and changed_at <= now()
               and changed_at > coalesce((select mark from audit_marks where kind = 'stored_frames'), '-infinity')`,
    },
    {
      service: 'tasks',
      what: 'submitted videos',
      sql: `select 1 from task_moves join tasks using (task_id) where to_status = 'submitting' and object_key is not null
               and at <= now() and at > coalesce((select mark from audit_marks where kind = 'video_missing'), '-infinity')`,
    },
    {
      service: 'results',
      what: 'segments',
      sql: `select 1 from segments where object_key is not null
               and created_at <= now() and created_at > coalesce((select mark from audit_marks where kind = 'segment_missing'), '-infinity')`,
    },
    { service: 'quota', what: 'counters', sql: 'select 1 from ledger_changes' },
  ];
  const counts = await Promise.all(
    questions.map(async ({ service, what, sql }) => ({ what, left: (await stores.query(service, sql)).length })),
  );
  return counts.filter(({ left }) => left > 0).map(({ what, left }) => `not looked at yet: ${left} ${what}`);
}
