import { backendStatusPath, serviceStatus } from '@vision/contracts/status';
import type { ReplicaStatus } from '@vision/contracts/status';
import { bodyAs, call } from '@vision/shared/http/call';
import { askEveryReplica } from '@vision/shared/http/replicas';
import type { TokenSigner } from '@vision/shared/http/service-token';

export interface BackendStatusOptions {
  /** Address whose name resolves to every replica; none without a backend. */
  baseUrl: string | undefined;
  token: string | undefined;
  signer: TokenSigner;
}

export interface BackendStatus {
  /** How each replica of the inference backend stands. */
  read: () => Promise<ReplicaStatus[]>;
}

const TIMEOUT_MS = 8_000;
const SERVICE = 'inference';

/** Asks the backend beside all breakers: its state is wanted most when they are open. */
export function createBackendStatus({ baseUrl, token, signer }: BackendStatusOptions): BackendStatus {
  return {
    read: async () => {
      if (baseUrl === undefined) return [{ service: SERVICE, address: '-', fault: 'INFERENCE_URL is not set' }];
      const bearer = token ?? (await signer.sign('inference', { subject: 'operator' }));
      const answers = await askEveryReplica(baseUrl, (dispatcher) =>
        call({
          upstream: 'inference',
          operation: 'status',
          method: 'GET',
          url: baseUrl + backendStatusPath,
          headers: { authorization: `Bearer ${bearer}` },
          timeoutMs: TIMEOUT_MS,
          dispatcher,
        }),
      );
      return answers.map((told) => {
        const { address } = told;
        if ('fault' in told) return { service: SERVICE, address, fault: told.fault };
        const status = told.answer.status === 200 ? bodyAs(serviceStatus, told.answer) : undefined;
        // Another backend has no such address; that it answers is all that can be known.
        if (status || told.answer.status === 404) return { service: SERVICE, address, status };
        return { service: SERVICE, address, fault: `it answered ${told.answer.status}` };
      });
    },
  };
}
