import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { ClientOptions } from 'minio';
import { Agent, fetch } from 'undici';
import { FaultError, codesOf } from '@vision/shared/start/fault';
import { callUpstream } from '@vision/shared/upstream/call-upstream';

/** Who a pod is, for a store that trusts the cluster. */
export interface WebIdentity {
  /** Of the security token service. */
  endpoint: string;
  roleArn: string;
  /** The cluster writes a new token into it before the old one ends. */
  tokenFile: string;
}

interface Keys {
  accessKey: string;
  secretKey: string;
  sessionToken: string;
  /** By the clock of this process. */
  endsAt: number;
  renewAt: number;
}

const ANSWER_MS = 10_000;

type KeySource = NonNullable<ClientOptions['credentialsProvider']>;

/**
 * Keys of some minutes or hours, got with the token of the pod. They are renewed after three quarters of their time, by
 * one question at a time; while that fails, the old ones serve until they end. The client's own source asks at one
 * address only, ten seconds before the end, once for each request that waits.
 */
export function webIdentityKeys(identity: WebIdentity, ca: string | undefined): KeySource {
  let known: Keys | undefined;
  let asking: Promise<Keys> | undefined;
  const renewed = async () => {
    asking ??= assumeRole(identity, ca).finally(() => {
      asking = undefined;
    });
    try {
      known = await asking;
    } catch (error) {
      if (!known || Date.now() > known.endsAt) throw error;
      // Asked again by a later request, not by the very next one.
      known.renewAt = Math.min(known.endsAt, Date.now() + ANSWER_MS);
    }
    return known;
  };
  const source = {
    getCredentials: async () => {
      const keys = known && Date.now() < known.renewAt ? known : await renewed();
      return {
        getAccessKey: () => keys.accessKey,
        getSecretKey: () => keys.secretKey,
        getSessionToken: () => keys.sessionToken,
      };
    },
  };
  // The client exports neither of its two classes, and calls nothing but this.
  return source as unknown as KeySource;
}

async function assumeRole({ endpoint, roleArn, tokenFile }: WebIdentity, ca: string | undefined): Promise<Keys> {
  const token = await readFile(tokenFile, 'utf8').catch((error: unknown) => {
    throw new FaultError(`AWS_WEB_IDENTITY_TOKEN_FILE: ${tokenFile} cannot be read (${codesOf(error)[0] ?? 'error'})`);
  });
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
          WebIdentityToken: token.trim(),
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

function refusal({ endpoint, roleArn }: WebIdentity, status: number, text: string): string {
  const reason = [element(text, 'Code'), element(text, 'Message')].filter(Boolean).join(': ') || `status ${status}`;
  return `${endpoint} (S3_STS_ENDPOINT) gives no keys for AWS_ROLE_ARN=${roleArn}: ${reason}`;
}

function keysOf(text: string, endpoint: string): Keys {
  const [accessKey, secretKey, sessionToken, expiration] = [
    element(text, 'AccessKeyId'),
    element(text, 'SecretAccessKey'),
    element(text, 'SessionToken'),
    element(text, 'Expiration'),
  ];
  const endsAt = Date.parse(expiration ?? '');
  if (!accessKey || !secretKey || !sessionToken || Number.isNaN(endsAt))
    throw new FaultError(`${endpoint} (S3_STS_ENDPOINT) answered without keys`);
  const now = Date.now();
  return { accessKey, secretKey, sessionToken, endsAt, renewAt: now + 0.75 * Math.max(0, endsAt - now) };
}

/** The answer is a few flat elements; none of them holds what would have to be unescaped. */
function element(text: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]?.trim();
}
