import { callers } from '@vision/shared/contracts/allowed-calls';
import type { CallingService } from '@vision/shared/contracts/allowed-calls';
import { createServiceKey } from '@vision/shared/service-keys';
import type { Command } from '../command.ts';
import { UsageError } from '../usage-error.ts';

/** Makes the keys on this machine; nothing is asked of the system, and nothing is kept. */
export const serviceKeyCommands: Command[] = [
  {
    name: 'service-keys create',
    options: { service: `only for this one: ${callers.join(', ')}` },
    summary: 'make the keys that services sign their calls with, as lines of an .env file',
    run: async ({ options }) => {
      const made = chosen(options['service']).map((service) => ({ service, ...createServiceKey(service) }));
      const lines = made.map(({ service, privateKey }) => `${service.toUpperCase()}_SERVICE_KEY=${privateKey}`);
      const publicKeys = made.map(({ publicKey }) => publicKey).join(',');
      return { value: made, text: [...lines, `SERVICE_PUBLIC_KEYS=${publicKeys}`].join('\n') };
    },
  },
];

function chosen(name: string | undefined): readonly CallingService[] {
  if (name === undefined) return callers;
  const service = callers.find((known) => known === name);
  if (service === undefined) throw new UsageError(`--service is one of ${callers.join(', ')}.`);
  return [service];
}
