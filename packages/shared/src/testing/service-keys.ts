import { createHash } from 'node:crypto';
import { callers } from '@vision/contracts/allowed-calls';
import type { Callee, CallingService } from '@vision/contracts/allowed-calls';
import { createTokenSigner, createTokenVerifier } from '../http/service-token.ts';
import type { Behalf, ServiceCaller, TokenSigner } from '../http/service-token.ts';
import { publicKeyOf, serviceKeyConfig } from '../service-keys.ts';

/** SERVICE_KEY of a service under test: always the same, so that processes of one test agree. */
export const testServiceKey = (service: CallingService): string =>
  createHash('sha256').update(`test key of ${service}`).digest('base64url');

/** SERVICE_PUBLIC_KEYS of tests. */
export const testPublicKeys = callers.map((service) => publicKeyOf(service, testServiceKey(service))).join(',');

/** Signs as a service, with its test key. */
export function testSigner(issuer: CallingService): TokenSigner {
  return createTokenSigner({
    issuer,
    key: serviceKeyConfig.SERVICE_KEY.parse(testServiceKey(issuer)),
    publicKeys: serviceKeyConfig.SERVICE_PUBLIC_KEYS.parse(testPublicKeys),
  });
}

const signers = new Map(callers.map((service) => [service, testSigner(service)]));

/** The token of a call from one service to another. */
export async function testToken(issuer: CallingService, audience: Callee, behalf: Behalf): Promise<string> {
  return (signers.get(issuer) ?? testSigner(issuer)).sign(audience, behalf);
}

/** Who a token names, as the service that it is for sees it. @throws TokenError for a token that it refuses. */
export async function verifyTestToken(audience: Callee, token: string): Promise<ServiceCaller> {
  return createTokenVerifier(audience, serviceKeyConfig.SERVICE_PUBLIC_KEYS.parse(testPublicKeys)).verify(token);
}
