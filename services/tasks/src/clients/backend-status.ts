import { backendStatusPath, serviceStatus } from '@vision/contracts/status';
import type { ReplicaStatus } from '@vision/contracts/status';
import { bodyAs, call } from '@vision/shared/http/call';
import { askEveryReplica } from '@vision/shared/http/replicas';
import type { TokenSigner } from '@vision/shared/http/service-token';

export interface BackendStatusOptions {
  /** Address with a name that resolves to every replica; undefined without a backend. */
  baseUrl: string | undefined;
  token: string | undefined;
  signer: TokenSigner;
}

export interface BackendStatus {
  /** Status of each replica of the inference backend. */
  read: () => Promise<ReplicaStatus[]>;
}

const TIMEOUT_MS = 8_000;
const SERVICE = 'inference';

/** Queries the backend without its breakers: its state matters most while they are open. */
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
        // Another backend does not have this path; that it answers is all that can be determined.
        if (status || told.answer.status === 404) return { service: SERVICE, address, status };
        return { service: SERVICE, address, fault: `it answered ${told.answer.status}` };
      });
    },
  };
}
