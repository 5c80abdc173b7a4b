import { z } from 'zod';
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
    const acts = await admin.call(audit, { method: 'GET', path: `/admin/v1/audit?limit=${limit}` });
    const found = await admin.call(
      differences,
      options['now'] === undefined
        ? { method: 'GET', path: '/admin/v1/differences' }
        : { method: 'POST', path: '/admin/v1/differences/run' },
    );
    const isWell = found.items.length === 0 && found.unreachable.length === 0;
    return {
      value: { ...acts, differences: found.items, unreachable: found.unreachable },
      text: [
        `${found.items.length} differences`,
        ...found.unreachable.map((service) => `${service} did not answer`),
        ...(found.items.length === 0 ? [] : [table(['service', 'kind', 'id', 'since', 'details'], found.items)]),
        '',
        table(['at', 'actor', 'action', 'target', 'result', 'details'], acts.items),
      ].join('\n'),
      exitCode: isWell ? 0 : 1,
    };
  },
};
