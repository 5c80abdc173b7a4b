import { asAppError } from '@vision/contracts/errors';
import { AddressError } from '@vision/shared/net/address-error';
import type { AddressPolicy, Endpoint } from '@vision/shared/net/address-policy';
import { parseStreamUrl } from '@vision/streams/stream-url';
import type { StreamUrl } from '@vision/streams/stream-url';
import { SourceError } from '@vision/streams/source-error';

/** Reads addresses of sources and finds the machines behind them, under the rules for addresses. */
export interface SourceAddresses {
  /** @throws SourceError `address_forbidden` for everything the grammar of stream addresses refuses. */
  parse: (text: string) => StreamUrl;
  /**
   * The one IP address to connect to. All failures of name resolution look the same: a caller who may choose
   * the name must not learn what stands behind our name servers.
   * @throws SourceError `address_forbidden` for an address or port that is refused as it stands, `connection_failed`.
   */
  resolve: (endpoint: Endpoint, signal?: AbortSignal) => Promise<string>;
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
    resolve: async (endpoint, signal) => {
      try {
        policy.checkLiteral(endpoint.host);
        policy.checkPort(endpoint);
      } catch (error) {
        throw error instanceof AddressError ? new SourceError('address_forbidden') : error;
      }
      try {
        return await policy.resolvePinned(endpoint, { deadlineMs, signal });
      } catch {
        throw new SourceError('connection_failed');
      }
    },
  };
}
