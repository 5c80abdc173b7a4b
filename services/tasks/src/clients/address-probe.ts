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
  /** Maximum time for the connection, including the name lookup. */
  connectMs: number;
  /** Trusted certificates, instead of the system's. */
  ca?: string | undefined;
}

/** The address of the connection, or why it does not serve a stream. */
type ProbeResult = { outcome: 'reached'; pinnedAddress: string } | { outcome: 'unreachable'; fault: ProbeFault };

/** Probes a stream until the signal aborts it, which gives the fault `timeout`. */
export type AddressProbe = (url: StreamUrl, signal: AbortSignal) => Promise<ProbeResult>;

/**
 * Proves only that a peer answers at the address of a stream: it resolves the name once, checks every address against
 * the address rules and makes one handshake of the scheme with that one address; no answer can redirect it elsewhere.
 * It never leaves a socket open.
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
