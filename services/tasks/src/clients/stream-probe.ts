import { AddressError } from '@vision/shared/net/address-policy';
import type { AddressPolicy, Lookup } from '@vision/shared/net/address-policy';
import type { StreamUrl } from '@vision/shared/net/stream-url';
import { probeHttp } from './probe-http.ts';
import { probeRtmp } from './probe-rtmp.ts';
import { probeRtsp } from './probe-rtsp.ts';
import { ProbeError } from './probe-socket.ts';
import type { ProbeTarget } from './probe-socket.ts';

export interface ProbeOptions {
  policy: AddressPolicy;
  /** Longest time for the connection, and for the name before it. */
  connectMs: number;
  /** Longest time in all. */
  totalMs: number;
  /** Certificates to trust instead of the system's. */
  ca?: string | undefined;
  lookup?: Lookup | undefined;
}

export type StreamProbe = (url: StreamUrl) => Promise<{ pinnedAddress: string }>;

/**
 * Proves only that a peer talks at the address of a stream: the name is resolved once, every answer must pass the
 * address rules, one handshake of the scheme is made with that one address, and no answer can redirect it anywhere
 * else. Whatever the outcome, no socket is left.
 * @returns a function that gives the address it talked to. @throws ProbeError.
 */
export function createStreamProbe({ policy, connectMs, totalMs, ca, lookup }: ProbeOptions): StreamProbe {
  return async (url) => {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(new ProbeError('timeout')), totalMs);
    try {
      const address = await policy.resolvePinned(url.host, { deadlineMs: connectMs, lookup });
      await handshakes[url.scheme]({ url, address, connectMs, ca, signal: controller.signal });
      return { pinnedAddress: address };
    } catch (error) {
      throw asProbeError(error, controller.signal);
    } finally {
      clearTimeout(timer);
    }
  };
}

const handshakes: Record<StreamUrl['scheme'], (target: ProbeTarget) => Promise<void>> = {
  http: probeHttp,
  https: probeHttp,
  rtsp: probeRtsp,
  rtmp: probeRtmp,
};

function asProbeError(error: unknown, signal: AbortSignal): ProbeError {
  if (signal.reason instanceof ProbeError) return signal.reason;
  if (error instanceof ProbeError) return error;
  if (error instanceof AddressError) return new ProbeError(error.fault, error);
  return new ProbeError('connection_lost', error);
}
