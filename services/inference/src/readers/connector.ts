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
  /** The IP address that the origin's host stands for, for as long as the attempt lasts. */
  address: string;
  openTimeoutMs: number;
  signal: AbortSignal;
}

/** Makes the connections that a reader asks for. */
export interface Connector {
  /**
   * Waits while the reader connects too often. @throws SourceError `address_forbidden` for targets that the rules or
   * the protocol forbid, `connection_failed`, `timeout`
   */
  connect: (target: Endpoint) => Promise<Socket>;
  close: () => void;
}

/** RTMP proves who asks by up to two connections before the one that counts. */
const MOST_CONNECTIONS = { rtsp: 1, rtmp: 3, http: Infinity, https: Infinity };
// A playlist may be made of thousands of pieces that hold nothing: a dozen requests at once, then four a second.
const CONNECTION_MS = 250;
const CONNECTIONS_AHEAD_MS = 12 * CONNECTION_MS;
/** Playlists name some hosts of a content network; more than this is a scan. */
const MAX_HOSTS = 16;

/**
 * Connects to the origin before a reader is started: for a source that is away, none is. The reader gets this
 * connection as its first one.
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
      // First of all, so that refusals cost this process no more than connections do.
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

/** A host that a playlist names is checked by the same grammar as a stream address. */
function addressOf({ host, port }: Endpoint): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/`;
}
