import type { StreamUrl } from '@vision/shared/net/stream-url';
import { inStreamSpan } from '@vision/shared/telemetry/stream-span';
import { openHttp } from './http-input.ts';
import type { LiveInput } from './live-input.ts';
import { openRtmp } from './rtmp/rtmp-input.ts';
import { openRtsp } from './rtsp/rtsp-input.ts';
import type { SourceAddresses } from './source-addresses.ts';

export interface LiveSource {
  /** The stream's address with everything secret in it. */
  url: string;
  /** The address that passed the safety check when the job was created. */
  pinnedAddress?: string | undefined;
}

export interface OpenLiveDeps {
  addresses: SourceAddresses;
  openTimeoutMs: number;
  /** Certificates to trust instead of the system's. */
  ca?: string | undefined;
}

/**
 * Opens a source. The first connection goes to the pinned address, if there is one; later ones wherever the name leads
 * by then, under the same rules.
 *
 * @throws SourceError
 */
export async function openLiveInput(
  deps: OpenLiveDeps,
  source: LiveSource,
  { isFirst, signal }: { isFirst: boolean; signal: AbortSignal },
): Promise<LiveInput> {
  const url = deps.addresses.parse(source.url);
  const pinnedAddress = isFirst ? source.pinnedAddress : undefined;
  return inStreamSpan('open a stream', url, () => openAddress(deps, { url, pinnedAddress, signal }));
}

async function openAddress(
  deps: OpenLiveDeps,
  { url, pinnedAddress, signal }: { url: StreamUrl; pinnedAddress: string | undefined; signal: AbortSignal },
): Promise<LiveInput> {
  // A pinned address has to pass the same rules, because its sender may be wrong.
  const address = await deps.addresses.resolve({ host: pinnedAddress ?? url.host, port: url.port }, signal);
  const options = { ...deps, url, address, signal };
  switch (url.scheme) {
    case 'http':
    case 'https':
      return openHttp(options);
    case 'rtsp':
      return openRtsp(options);
    case 'rtmp':
      return openRtmp(options);
  }
}
