import type { z } from 'zod';
import { list } from '@vision/shared/config';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import type { AddressPolicy } from '@vision/shared/net/address-policy';
import { createLookup } from '@vision/shared/net/name-lookup';
import { DEFAULT_STREAM_PORTS, readPorts } from '@vision/shared/net/stream-ports';

/** Settings of every service that connects to streams: who checks an address and who reads it have to agree. */
export const streamRulesConfig = {
  STREAM_ALLOWED_CIDRS: list('').describe('Non-public networks that stream addresses may point to, on any port'),
  STREAM_ALLOWED_PORTS: list(DEFAULT_STREAM_PORTS).describe(
    'Ports and port ranges that stream addresses may use; addresses in STREAM_ALLOWED_CIDRS may use any port',
  ),
  STREAM_DNS_SERVERS: list('').describe(
    'Name servers for stream hosts, IP addresses with an optional :port; default: those of the system',
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
