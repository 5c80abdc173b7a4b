import { z } from 'zod';
import { counterRepair, verificationReply } from '@vision/shared/contracts/quota';
import type { Command, Output } from '../command.ts';
import { facts, table } from '../table.ts';

const maintenance = z.object({ enabled: z.boolean(), reason: z.string() });
const audit = z.object({ items: z.array(z.record(z.string(), z.unknown())) });

const differences = z.object({
  items: z.array(z.record(z.string(), z.unknown())),
  unreachable: z.array(z.string()),
});

const switched = (value: z.infer<typeof maintenance>): Output => ({
  value,
  text: value.enabled ? `Maintenance is on: ${value.reason || '(no reason given)'}` : 'Maintenance is off.',
});

export const upkeepCommands: Command[] = [
  {
    name: 'maintenance on',
    options: { reason: 'shown in the log and in `maintenance status`' },
    summary: 'keep new work out; everything else goes on',
    run: async ({ admin, options }) => {
      const json = { enabled: true, reason: options['reason'] ?? '' };
      return switched(await admin.call(maintenance, { method: 'PUT', path: '/admin/v1/maintenance', json }));
    },
  },
  {
    name: 'maintenance off',
    summary: 'let new work in again',
    run: async ({ admin }) => {
      const json = { enabled: false };
      return switched(await admin.call(maintenance, { method: 'PUT', path: '/admin/v1/maintenance', json }));
    },
  },
  {
    name: 'maintenance status',
    summary: 'show whether new work is kept out',
    run: async ({ admin }) => switched(await admin.call(maintenance, { method: 'GET', path: '/admin/v1/maintenance' })),
  },
  {
    name: 'quota verify',
    summary: 'recompute every quota counter from the ledger; exit code 1 when one differs',
    run: async ({ admin }) => {
      const value = await admin.call(verificationReply, { method: 'POST', path: '/admin/v1/quota/verify' });
      const { differences, counters, reservations } = value;
      const sum = `${counters} counters over ${reservations} reservations, ${differences.length} differences`;
      if (differences.length === 0) return { value, text: sum };
      return {
        value,
        text: `${sum}\n${table(['subject', 'kind', 'day', 'used', 'ledger'], differences)}`,
        exitCode: 1,
      };
    },
  },
  {
    name: 'quota repair',
    args: ['subject', 'kind', 'day'],
    options: { 'reason!': 'why, for the audit log' },
    summary: 'set a counter (video or image, YYYY-MM-DD in UTC+8) to what its reservations add up to',
    run: async ({ admin, args, options }) => {
      const json = { ...args, reason: options['reason'] };
      const value = await admin.call(counterRepair, { method: 'POST', path: '/admin/v1/quota/repair', json });
      return { value, text: facts(value) };
    },
  },
  {
    name: 'retention run',
    summary: 'remove now what is over its time',
    run: async ({ admin }) => {
      const value = await admin.call(z.record(z.string(), z.unknown()), {
        method: 'POST',
        path: '/admin/v1/retention/run',
      });
      return { value, text: facts(value) };
    },
  },
  {
    name: 'audit',
    options: { limit: 'entries at most, 100 by default' },
    summary: 'show what the audits of the services found, and what operators did; exit code 1 when something differs',
    run: async ({ admin, options }) => {
      const limit = encodeURIComponent(options['limit'] ?? '100');
      const acts = await admin.call(audit, { method: 'GET', path: `/admin/v1/audit?limit=${limit}` });
      const found = await admin.call(differences, { method: 'GET', path: '/admin/v1/differences' });
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
  },
];
