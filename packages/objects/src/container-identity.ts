import { z } from 'zod';
import { CallError, bodyAs, call } from '@vision/shared/http/call';
import type { CallReply } from '@vision/shared/http/call';
import { isLoopbackName } from '@vision/shared/net/loopback-name';
import { FaultError, away, codesOf, tlsFault, wrong } from '@vision/shared/start/fault';
import type { Fault } from '@vision/shared/start/fault';
import { readPodToken } from './pod-token.ts';
import { ANSWER_MS, renewedKeys } from './session-keys.ts';
import type { KeySource, SessionKeys } from './session-keys.ts';

/** Who a pod is, for an agent on its node that hands out keys (EKS Pod Identity). */
export interface ContainerIdentity {
  /** Of the agent. */
  credentialsUrl: string;
  /** The cluster writes a new token into it before the old one ends. */
  authorizationFile: string;
}

/** Addresses of the agents of ECS and EKS: the token is sent to them in the clear. */
const AGENTS = new Set(['169.254.170.2', '169.254.170.23', '[fd00:ec2::23]']);

/** Whether the token of a pod may be sent there. */
export const isAgentUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || isLoopbackName(hostname) || AGENTS.has(hostname);
};

/** Keys of the agent, renewed before they end. */
export const containerKeys = (identity: ContainerIdentity): KeySource => renewedKeys(() => askAgent(identity));

const answer = z.object({
  AccessKeyId: z.string().min(1),
  SecretAccessKey: z.string().min(1),
  Token: z.string().min(1),
  Expiration: z.coerce.date(),
});

async function askAgent({ credentialsUrl: url, authorizationFile: file }: ContainerIdentity): Promise<SessionKeys> {
  const headers = { authorization: await readPodToken('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', file) };
  const limits = { timeoutMs: ANSWER_MS, maxReplyBytes: 65_536 };
  const exchange = { upstream: 'sts', operation: 'container_credentials', method: 'GET', url } as const;
  const reply = await call({ ...exchange, ...limits, headers }).catch((error: unknown) => {
    if (!(error instanceof CallError)) throw error;
    const silent = `${named(url)} does not answer: ${codesOf(error)[0] ?? error.reason}`;
    throw new FaultError(tlsFault(error, names) ?? away(silent));
  });
  const keys = bodyAs(answer, reply);
  if (reply.status !== 200 || !keys) throw new FaultError(refusal(reply, url));
  const { AccessKeyId: accessKey, SecretAccessKey: secretKey, Token: sessionToken, Expiration: endsAt } = keys;
  return { accessKey, secretKey, sessionToken, endsAt };
}

const named = (url: string) => `AWS_CONTAINER_CREDENTIALS_FULL_URI=${url}`;

const names = {
  store: 'the agent',
  address: 'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  tls: 'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  ca: 'NODE_EXTRA_CA_CERTS',
};

function refusal({ status, body }: CallReply, url: string): Fault {
  if (status === 200) return wrong(`${named(url)} answers without keys`);
  if (status >= 500 || status === 429) return away(`${named(url)} answers with status ${status}`);
  const { code, message } = (body ?? {}) as Record<string, unknown>;
  const reason = [code, message].filter((part) => typeof part === 'string').join(': ');
  return wrong(`${named(url)} gives no keys to this service account: ${reason.slice(0, 300) || `status ${status}`}`);
}
