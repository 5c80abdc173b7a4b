import { z } from 'zod';
import { AwayError } from '../admin-client.ts';
import type { AdminClient } from '../admin-client.ts';
import { wholeNumber } from '../command.ts';
import type { Command } from '../command.ts';
import { table } from '../table.ts';

const audit = z.object({ items: z.array(z.record(z.string(), z.unknown())) });

const differences = z.object({
  items: z.array(z.record(z.string(), z.unknown())),
  unreachable: z.array(z.string()),
});

export const auditCommand: Command = {
  name: 'audit',
  options: {
    limit: { value: 'number', summary: 'entries at most, 100 by default' },
    now: { summary: 'run every audit now, and include differences that may still vanish' },
  },
  summary: 'show differences that the audits found, and the log of operators; exit code 1 when there is a difference',
  run: async ({ admin, options }) => {
    const limit = wholeNumber(options, 'limit', 1) ?? 100;
    const log = await readLog(admin, limit);
    const found = await admin.call(
      differences,
      options['now'] === undefined
        ? { method: 'GET', path: '/admin/v1/differences' }
        : { method: 'POST', path: '/admin/v1/differences/run' },
    );
    const isWell = found.items.length === 0 && found.unreachable.length === 0 && log.fault === undefined;
    return {
      value: { items: log.items, differences: found.items, unreachable: found.unreachable },
      text: [
        `${found.items.length} differences`,
        ...found.unreachable.map((service) => `${service} did not answer`),
        ...(found.items.length === 0 ? [] : [table(['service', 'kind', 'id', 'since', 'details'], found.items)]),
        '',
        log.fault ?? table(['at', 'actor', 'action', 'target', 'result', 'details'], log.items),
      ].join('\n'),
      exitCode: isWell ? 0 : 1,
    };
  },
};

/** The log of operators is in the database of the gateway; the differences are those of other services. */
async function readLog(admin: AdminClient, limit: number): Promise<z.infer<typeof audit> & { fault?: string }> {
  try {
    return await admin.call(audit, { method: 'GET', path: `/admin/v1/audit?limit=${limit}` });
  } catch (error) {
    if (!(error instanceof AwayError)) throw error;
    return { items: [], fault: `The log of operators cannot be read. ${error.message}` };
  }
}
