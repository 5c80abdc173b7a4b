import { hostname } from 'node:os';
import { Agent, fetch } from 'undici';
import { FaultError, away, wrong } from '@vision/shared/start/fault';
import type { Fault } from '@vision/shared/start/fault';
import { callUpstream } from '@vision/shared/upstream/call-upstream';
import { readPodToken } from './pod-token.ts';
import { ANSWER_MS, renewedKeys } from './session-keys.ts';
import type { KeySource, SessionKeys } from './session-keys.ts';
import { xmlElement } from './xml-element.ts';

/** Who a pod is, for a store that trusts the cluster. */
export interface WebIdentity {
  /** Of the security token service. */
  endpoint: string;
  roleArn: string;
  /** The cluster writes a new token into it before the old one ends. */
  tokenFile: string;
}

/**
 * Keys that a security token service gives for the token of the pod. The client's own source knows one address only.
 */
export const webIdentityKeys = (identity: WebIdentity, ca: string | undefined): KeySource =>
  renewedKeys(() => assumeRole(identity, ca));

async function assumeRole({ endpoint, roleArn, tokenFile }: WebIdentity, ca: string | undefined): Promise<SessionKeys> {
  const token = await readPodToken('AWS_WEB_IDENTITY_TOKEN_FILE', tokenFile);
  const dispatcher = new Agent(ca === undefined ? {} : { connect: { ca } });
  try {
    const call = { upstream: 'sts', operation: 'assume_role', limitMs: ANSWER_MS } as const;
    return await callUpstream(call, async (running) => {
      const answer = await fetch(endpoint, {
        method: 'POST',
        // In the body: an address ends up in logs and spans.
        body: new URLSearchParams({
          Action: 'AssumeRoleWithWebIdentity',
          Version: '2011-06-15',
          RoleArn: roleArn,
          RoleSessionName: hostname()
            .replaceAll(/[^\w+=,.@-]/g, '-')
            .slice(0, 64),
          WebIdentityToken: token,
        }),
        redirect: 'error',
        signal: AbortSignal.timeout(ANSWER_MS),
        dispatcher,
      });
      running.answered(answer.status);
      const text = await answer.text();
      if (!answer.ok) throw new FaultError(refusal({ endpoint, roleArn, tokenFile }, answer.status, text));
      return keysOf(text, endpoint);
    });
  } finally {
    await dispatcher.close();
  }
}

function refusal({ endpoint, roleArn }: WebIdentity, status: number, text: string): Fault {
  const reason =
    [xmlElement(text, 'Code'), xmlElement(text, 'Message')].filter(Boolean).join(': ') || `status ${status}`;
  const kind = status >= 500 || status === 429 ? away : wrong;
  return kind(`${endpoint} (S3_STS_ENDPOINT) gives no keys for AWS_ROLE_ARN=${roleArn}: ${reason}`);
}

function keysOf(text: string, endpoint: string): SessionKeys {
  const [accessKey, secretKey, sessionToken, expiration] = [
    xmlElement(text, 'AccessKeyId'),
    xmlElement(text, 'SecretAccessKey'),
    xmlElement(text, 'SessionToken'),
    xmlElement(text, 'Expiration'),
  ];
  const endsAt = new Date(expiration ?? '');
  if (!accessKey || !secretKey || !sessionToken || Number.isNaN(endsAt.getTime()))
    throw new FaultError(wrong(`${endpoint} (S3_STS_ENDPOINT) answered without keys`));
  return { accessKey, secretKey, sessionToken, endsAt };
}
