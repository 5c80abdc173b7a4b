import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Callee, CallingService } from '@vision/contracts/allowed-calls';
import { createTokenSigner } from '@vision/shared/http/service-token';
import { createServiceKey, publicKeyOf, serviceKeyConfig } from '@vision/shared/service-keys';
import { readEnvFile } from '../../deploy/local/secrets.ts';
import { readSettings } from '../../deploy/local/settings.ts';

/** A token as services show it to each other, signed by nobody. */
export function unsigned(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { sub: randomUUID(), aud: 'tasks', iss: 'gateway', exp: 4_102_444_800 };
  return `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`;
}

/** Signed with a key that the attacker made. */
export function ofAnOwnKey(issuer: CallingService, audience: Callee): Promise<string> {
  return signed(issuer, audience, createServiceKey(issuer).privateKey);
}

/** Signed with the key of a service of the system under attack, by whoever has taken that service over. */
export function ofTheService(issuer: CallingService, audience: Callee): Promise<string> {
  return signed(issuer, audience, keyOf(issuer));
}

/** Signed with the key of one service in the name of another. */
export function inTheNameOf(issuer: CallingService, owner: CallingService, audience: Callee): Promise<string> {
  return signed(issuer, audience, keyOf(owner));
}

function signed(issuer: CallingService, audience: Callee, privateKey: string): Promise<string> {
  const { SERVICE_KEY, SERVICE_PUBLIC_KEYS } = serviceKeyConfig;
  const signer = createTokenSigner({
    issuer,
    key: SERVICE_KEY.parse(privateKey),
    publicKeys: SERVICE_PUBLIC_KEYS.parse(publicKeyOf(issuer, privateKey)),
  });
  return signer.sign(audience, { subject: randomUUID() });
}

function keyOf(service: CallingService): string {
  const secrets = readEnvFile(join(readSettings().localDir, 'test/secrets'));
  const key = secrets[`${service.toUpperCase()}_SERVICE_KEY`];
  if (key === undefined)
    throw new Error(`the system under attack has no key of ${service}; \`make test-up\` starts one`);
  return key;
}
