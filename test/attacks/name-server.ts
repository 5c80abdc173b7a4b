import { startDnsServer } from '@vision/shared/testing/dns-server';
import type { DnsAnswer, TestDnsServer } from '@vision/shared/testing/dns-server';
import { need } from '../support/system.ts';

const answers = new Map<string, () => DnsAnswer>();
let server: TestDnsServer | undefined;

/** The name server that the system under test asks for hosts of streams. */
export const names = {
  start: async () => {
    const port = Number(need('STREAM_DNS_SERVERS').split(':')[1]);
    server = await startDnsServer(({ name }) => answers.get(name)?.() ?? 'nxdomain', port);
  },
  stop: () => server?.close(),
  /** A new name, and what is answered each time somebody asks for it. */
  add: (answer: () => DnsAnswer): string => {
    const name = `n${answers.size}.attacks.test`;
    answers.set(name, answer);
    return name;
  },
};
