import { z } from 'zod';
import { counterRepair, endedReservation, verificationReply } from '@vision/contracts/quota';
import type { CommandGroup, Output } from '../command.ts';
import { facts, table } from '../table.ts';
import { decideBucket, decisionArgs, decisionOptions } from './decide-bucket.ts';

const maintenance = z.object({ enabled: z.boolean(), reason: z.string() });
const switched = (value: z.infer<typeof maintenance>): Output => ({
  value,
  text: value.enabled ? `Maintenance is on: ${value.reason || '(no reason given)'}` : 'Maintenance is off.',
});

export const maintenanceCommands: CommandGroup = {
  name: 'maintenance',
  summary: 'maintenance mode, which refuses new work',
  commands: [
    {
      name: 'on',
      options: { reason: { value: 'text', summary: 'shown in the log and in `maintenance status`' } },
      summary: 'refuse new work; everything else continues',
      run: async ({ admin, options }) => {
        const json = { enabled: true, reason: options['reason'] ?? '' };
        return switched(await admin.call(maintenance, { method: 'PUT', path: '/admin/v1/maintenance', json }));
      },
    },
    {
      name: 'off',
      summary: 'accept new work again',
      run: async ({ admin }) => {
        const json = { enabled: false };
        return switched(await admin.call(maintenance, { method: 'PUT', path: '/admin/v1/maintenance', json }));
      },
    },
    {
      name: 'status',
      summary: 'show whether new work is refused',
      run: async ({ admin }) =>
        switched(await admin.call(maintenance, { method: 'GET', path: '/admin/v1/maintenance' })),
    },
  ],
};

export const quotaCommands: CommandGroup = {
  name: 'quota',
  summary: 'the ledger of the daily quotas',
  commands: [
    {
      name: 'verify',
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
      name: 'repair',
      args: [
        { name: 'subject', summary: 'subject of the counter' },
        { name: 'kind', summary: 'kind of quota', choices: ['video', 'image'] },
        { name: 'day', summary: 'YYYY-MM-DD in UTC+8' },
      ],
      options: { reason: { value: 'text', summary: 'why, for the audit log', required: true } },
      summary: 'correct a counter from its reservations',
      run: async ({ admin, args, options }) => {
        const json = { ...args, reason: options['reason'] };
        const value = await admin.call(counterRepair, { method: 'POST', path: '/admin/v1/quota/repair', json });
        return { value, text: facts(value) };
      },
    },
    {
      name: 'end',
      args: [
        { name: 'reservation', summary: 'its id, `<task>/<attempt>`' },
        { name: 'outcome', summary: 'charge or refund its units', choices: ['charge', 'refund'] },
      ],
      options: { reason: { value: 'text', summary: 'why, for the audit log', required: true } },
      summary: 'end an open reservation whose task is lost',
      run: async ({ admin, args, options }) => {
        const { reservation: reservation_id, outcome } = args;
        const json = { reservation_id, outcome, reason: options['reason'] };
        const path = '/admin/v1/quota/reservations/end';
        const value = await admin.call(endedReservation, { method: 'POST', path, json });
        return { value, text: facts(value) };
      },
    },
  ],
};

export const retentionCommands: CommandGroup = {
  name: 'retention',
  summary: 'expired data',
  commands: [
    {
      name: 'run',
      summary: 'remove expired data now',
      run: async ({ admin }) => {
        const value = await admin.call(z.record(z.string(), z.unknown()), {
          method: 'POST',
          path: '/admin/v1/retention/run',
        });
        return { value, text: facts(value) };
      },
    },
    {
      name: 'resume',
      args: decisionArgs,
      options: decisionOptions,
      summary: 'resume sweeps and retention with a restored database, within the hour',
      run: (context) => decideBucket(context, 'resume'),
    },
  ],
};
