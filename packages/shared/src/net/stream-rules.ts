import type { z } from 'zod';
import { list } from '../config.ts';
import { createAddressPolicy } from './address-policy.ts';
import type { AddressPolicy } from './address-policy.ts';
import { createLookup } from './name-lookup.ts';
import { DEFAULT_STREAM_PORTS, readPorts } from './stream-ports.ts';

/** Settings of every service that connects to streams: who checks an address and who reads it have to agree. */
export const streamRulesConfig = {
  STREAM_ALLOWED_CIDRS: list('').describe(
    'Networks that stream addresses may lead to although they are not public, on any port',
  ),
  STREAM_ALLOWED_PORTS: list(DEFAULT_STREAM_PORTS).describe(
    'Ports and ranges of ports that stream addresses may name; those of STREAM_ALLOWED_CIDRS are free',
  ),
  STREAM_DNS_SERVERS: list('').describe(
    'Name servers asked for hosts of streams, IP addresses with :port when it is not 53; those of the system when empty',
  ),
};

type StreamRulesConfig = z.output<z.ZodObject<typeof streamRulesConfig>>;

/** The rule for stream addresses of a service. @throws Error when a setting cannot be read. */
export function createStreamPolicy(config: StreamRulesConfig): AddressPolicy {
  return createAddressPolicy(config.STREAM_ALLOWED_CIDRS, {
    isAllowedPort: readPorts(config.STREAM_ALLOWED_PORTS),
    lookup: createLookup(config.STREAM_DNS_SERVERS),
  });
}
