import type { StreamUrl } from '@vision/streams/stream-url';
import { inStreamSpan } from '@vision/streams/stream-span';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { createConnector } from './connector.ts';
import { startReader } from './live-reader.ts';
import type { LiveReader, StreamUsage } from './live-reader.ts';
import type { SourceAddresses } from './source-addresses.ts';

export interface LiveSource {
  /** The stream's address with everything secret in it. */
  url: string;
  /** The address that passed the safety check when the job was created. */
  pinnedAddress?: string | undefined;
  usage: StreamUsage;
}

export interface OpenLiveDeps {
  addresses: SourceAddresses;
  sandbox: Sandbox;
  openTimeoutMs: number;
  /** Time for the reader to leave, before it is killed. */
  leaveMs: number;
  /** Certificates to trust instead of those of Node.js. */
  ca?: string | undefined;
  /** Called with the process group of the reader as soon as it runs. */
  onStarted?: ((processGroup: number) => void) | undefined;
}

/**
 * Opens a source in a process of its own. The first connection goes to the pinned address, if there is one; later ones
 * to the addresses that the name has by then, under the same rules.
 *
 * @throws SourceError; AppError `decoder_not_started` when the system starts no process now
 */
export async function openLiveInput(
  deps: OpenLiveDeps,
  source: LiveSource,
  { isFirst, signal }: { isFirst: boolean; signal: AbortSignal },
): Promise<LiveReader> {
  const url = deps.addresses.parse(source.url);
  const pinnedAddress = isFirst ? source.pinnedAddress : undefined;
  const { usage } = source;
  return inStreamSpan('open a stream', url, () => openAddress(deps, { url, pinnedAddress, usage, signal }));
}

async function openAddress(
  deps: OpenLiveDeps,
  { url, pinnedAddress, usage, signal }: Omit<LiveSource, 'url'> & { url: StreamUrl; signal: AbortSignal },
): Promise<LiveReader> {
  // A pinned address has to pass the same rules, because its sender may be wrong.
  const address = await deps.addresses.resolve({ host: pinnedAddress ?? url.host, port: url.port }, signal);
  const connector = await createConnector({ ...deps, origin: url, address, signal });
  try {
    return await startReader({ ...deps, connector, url, usage, signal });
  } finally {
    connector.close();
  }
}
