import type { Socket } from 'node:net';
import type { Endpoint } from '@vision/shared/net/address-policy';
import type { StreamUrl } from '@vision/streams/stream-url';
import { SourceError } from '@vision/streams/source-error';
import { createPace } from '../inputs/pace.ts';
import type { SourceAddresses } from './source-addresses.ts';
import { connectTcp } from '@vision/streams/tcp-connect';

export interface ConnectorOptions {
  addresses: SourceAddresses;
  /** The stream's address. */
  origin: StreamUrl;
  /** The IP address of the origin's host, for the whole attempt. */
  address: string;
  openTimeoutMs: number;
  signal: AbortSignal;
}

/** Makes the connections that a reader requests. */
export interface Connector {
  /**
   * Waits to limit the rate of connections. @throws SourceError `address_forbidden` for targets that the rules or the
   * protocol forbid, `connection_failed`, `timeout`
   */
  connect: (target: Endpoint) => Promise<Socket>;
  close: () => void;
}

/** RTMP authentication takes up to two connections before the one that plays. */
const MOST_CONNECTIONS = { rtsp: 1, rtmp: 3, http: Infinity, https: Infinity };
// A playlist may consist of thousands of empty segments: a burst of a dozen requests, then four a second.
const CONNECTION_MS = 250;
const CONNECTIONS_AHEAD_MS = 12 * CONNECTION_MS;
/** Playlists name some hosts of a content delivery network; more than this is a scan. */
const MAX_HOSTS = 16;

/**
 * Connects to the origin before a reader is started, so that no reader starts for an unavailable source. The reader
 * receives this connection as its first one.
 * @throws SourceError
 */
export async function createConnector(options: ConnectorOptions): Promise<Connector> {
  const { addresses, origin, signal } = options;
  const pace = createPace(CONNECTIONS_AHEAD_MS);
  const hosts = new Set([origin.host]);
  let count = 0;
  const open = (address: string, port: number) => connectTcp({ ...options, address, port, isHandedOver: true });
  let first: Socket | undefined = await open(options.address, origin.port);

  const resolve = ({ host, port }: Endpoint): Promise<string> => {
    hosts.add(host);
    if (hosts.size > MAX_HOSTS) throw new SourceError('address_forbidden');
    return addresses.resolve({ host: host === origin.host ? options.address : host, port }, signal);
  };

  return {
    connect: async (target) => {
      // Before any check, so that refusals are as rate-limited as connections.
      await pace(CONNECTION_MS, signal);
      const { host, port } = addresses.parse(addressOf(target));
      const isOrigin = host === origin.host && port === origin.port;
      const isWeb = origin.scheme === 'http' || origin.scheme === 'https';
      count += 1;
      if (count > MOST_CONNECTIONS[origin.scheme] || !(isOrigin || isWeb)) throw new SourceError('address_forbidden');
      const prepared = isOrigin ? first : undefined;
      if (prepared) {
        first = undefined;
        return prepared;
      }
      return open(await resolve({ host, port }), port);
    },
    close: () => void first?.destroy(),
  };
}

/** Checks a host of a playlist by the same grammar as a stream address. */
function addressOf({ host, port }: Endpoint): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/`;
}
