import { AddressError } from '@vision/shared/net/address-error';
import type { AddressPolicy } from '@vision/shared/net/address-policy';
import { SWITCHED_PROTOCOLS } from '@vision/streams/http-get';
import { SourceError } from '@vision/streams/source-error';
import type { SourceReason } from '@vision/streams/source-error';
import { inStreamSpan } from '@vision/streams/stream-span';
import type { StreamUrl } from '@vision/streams/stream-url';
import { probeHttp } from './probe-http.ts';
import { probeRtmp } from './probe-rtmp.ts';
import { probeRtsp } from './probe-rtsp.ts';
import { ProbeError } from './probe-target.ts';
import type { ProbeFault, ProbeTarget } from './probe-target.ts';

export interface ProbeOptions {
  policy: AddressPolicy;
  /** Longest time for the connection, and for the name before it. */
  connectMs: number;
  /** Certificates to trust instead of the system's. */
  ca?: string | undefined;
}

/** The address that was talked to, or why nothing like a stream was found. */
type ProbeResult = { outcome: 'reached'; pinnedAddress: string } | { outcome: 'unreachable'; fault: ProbeFault };

/** Looks at a stream until the signal ends it, which gives the fault `timeout`. */
export type AddressProbe = (url: StreamUrl, signal: AbortSignal) => Promise<ProbeResult>;

/**
 * Proves only that a peer talks at the address of a stream: the name is resolved once, every answer must pass the
 * address rules, one handshake of the scheme is made with that one address, and no answer can redirect it anywhere
 * else. No socket is left after any outcome.
 */
export function createAddressProbe({ policy, connectMs, ca }: ProbeOptions): AddressProbe {
  return async (url, signal) => {
    try {
      const pinnedAddress = await inStreamSpan('probe a stream', url, async () => {
        const address = await policy.resolvePinned(url, { deadlineMs: connectMs, signal });
        await handshakes[url.scheme]({ url, address, connectMs, ca, signal });
        return address;
      });
      return { outcome: 'reached', pinnedAddress };
    } catch (error) {
      return { outcome: 'unreachable', fault: faultOf(error, signal) };
    }
  };
}

const handshakes: Record<StreamUrl['scheme'], (target: ProbeTarget) => Promise<void>> = {
  http: probeHttp,
  https: probeHttp,
  rtsp: probeRtsp,
  rtmp: probeRtmp,
};

const faults: Partial<Record<SourceReason, ProbeFault>> = {
  redirect_refused: 'redirected',
  timeout: 'timeout',
  unreadable: 'not_a_stream',
};

function faultOf(error: unknown, signal: AbortSignal): ProbeFault {
  if (signal.aborted) return 'timeout';
  if (error instanceof ProbeError || error instanceof AddressError) return error.fault;
  if (error instanceof SourceError) return faults[error.reason] ?? 'connection_lost';
  const { code = '' } = error as { code?: string };
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_SSL|EPROTO/.test(code)) return 'tls_invalid';
  return code.startsWith('HPE_') || code === SWITCHED_PROTOCOLS ? 'not_a_stream' : 'connection_lost';
}
