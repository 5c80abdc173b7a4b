import type { Knex } from 'knex';
import type { Audit } from './auditor.ts';
import { selectDifferences } from './differences.ts';
import { runAudits as question } from '@vision/contracts/audit';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';

interface AuditDeps {
  db: Knex;
  audits: readonly Audit[];
  /** Makes due what would be looked at later. */
  hasten?: () => Promise<void>;
}

const AT_MOST = 1_000;
/** A request ends some time; the rest is left to the rounds of the auditor. */
const ROUNDS = 100;

/** Lets the audits of a service look now, and tells what they found, however young. */
export const runAuditsRoute = (operation: string, { db, audits, hasten }: AuditDeps): Route =>
  route(
    {
      ...question,
      operation,
      summary: 'Searches for differences now, including those that are due later',
      audience: 'internal',
      responses: { 200: { description: 'Oldest first', schema: question.reply } },
    },
    async () => {
      await hasten?.();
      for (const { find } of audits) for (let round = 0; round < ROUNDS && (await find()); round += 1);
      return { status: 200, body: { items: await selectDifferences(db, 0, AT_MOST) } };
    },
  );
