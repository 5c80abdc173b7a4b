import { asAppError } from '@vision/shared/errors';
import { AddressError } from '@vision/shared/net/address-policy';
import type { AddressPolicy } from '@vision/shared/net/address-policy';
import { parseStreamUrl } from '@vision/shared/net/stream-url';
import type { StreamUrl } from '@vision/shared/net/stream-url';
import { SourceError } from '../domain/source-error.ts';

/** Reads addresses of sources and finds the machines behind them, under the rules for addresses. */
export interface SourceAddresses {
  /** @throws SourceError `address_forbidden` for everything the grammar of stream addresses refuses. */
  parse: (text: string) => StreamUrl;
  /**
   * The one IP address to connect to.
   * @throws SourceError `address_forbidden`, `connection_failed`.
   */
  resolve: (host: string) => Promise<string>;
}

export function createSourceAddresses(policy: AddressPolicy, { deadlineMs }: { deadlineMs: number }): SourceAddresses {
  return {
    parse: (text) => {
      try {
        return parseStreamUrl(text, policy);
      } catch (error) {
        throw asAppError(error) ? new SourceError('address_forbidden') : error;
      }
    },
    resolve: async (host) => {
      try {
        return await policy.resolvePinned(host, { deadlineMs });
      } catch (error) {
        const isForbidden = error instanceof AddressError && error.fault === 'address_forbidden';
        throw new SourceError(isForbidden ? 'address_forbidden' : 'connection_failed');
      }
    },
  };
}
