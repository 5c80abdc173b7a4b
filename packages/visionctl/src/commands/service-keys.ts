import { callers } from '@vision/contracts/allowed-calls';
import type { CallingService } from '@vision/contracts/allowed-calls';
import { createServiceKey } from '@vision/shared/service-keys';
import type { CommandGroup } from '../command.ts';

/** Makes the keys on this machine; nothing is asked of the system, and nothing is kept. */
export const serviceKeyCommands: CommandGroup = {
  name: 'service-keys',
  summary: 'keys that services sign their calls with',
  commands: [
    {
      name: 'create',
      options: { service: { value: 'name', summary: 'only for this service', choices: callers } },
      summary: 'make the keys that services sign their calls with, as lines of an .env file',
      run: async ({ options }) => {
        const made = chosen(options['service']).map((service) => ({ service, ...createServiceKey(service) }));
        const lines = made.map(({ service, privateKey }) => `${service.toUpperCase()}_SERVICE_KEY=${privateKey}`);
        const publicKeys = made.map(({ publicKey }) => publicKey).join(',');
        return { value: made, text: [...lines, `SERVICE_PUBLIC_KEYS=${publicKeys}`].join('\n') };
      },
    },
  ],
};

function chosen(name: string | undefined): readonly CallingService[] {
  if (name === undefined) return callers;
  return callers.filter((known) => known === name);
}
