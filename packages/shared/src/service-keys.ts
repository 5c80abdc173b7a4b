import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { callers } from '@vision/contracts/allowed-calls';
import type { CallingService } from '@vision/contracts/allowed-calls';

/** The key that a service signs its tokens with. */
export interface SigningKey {
  /** RFC 7638 thumbprint of the public half, so a key cannot be listed under the name of another. */
  kid: string;
  key: KeyObject;
}

/** A key that tokens of one service are verified with. */
export interface PublicKey extends SigningKey {
  service: CallingService;
}

const KEY_TEXT = /^[A-Za-z0-9_-]{43}$/;
/** What stands before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

const signingKey = z.string().transform((text, context) => {
  if (KEY_TEXT.test(text)) return parsePrivate(text);
  context.addIssue({ code: 'custom', message: 'an Ed25519 private key: 32 bytes in base64url' });
  return z.NEVER;
});

const publicKeys = z.string().transform((text, context) => {
  const keys = text.split(',').map((entry) => parsePublic(entry.trim()));
  const known = keys.filter((key) => key !== undefined);
  if (known.length === keys.length && new Set(known.map(({ kid }) => kid)).size === keys.length) return known;
  const names = callers.join(', ');
  context.addIssue({ code: 'custom', message: `<service>:<key>, comma separated, no key twice; services: ${names}` });
  return z.NEVER;
});

/** Setting of everything that checks tokens between services. */
export const servicePublicKeysConfig = {
  SERVICE_PUBLIC_KEYS: publicKeys.describe(
    'Ed25519 public keys of the calling services, <service>:<key in base64url>, comma separated; a service may have several valid keys',
  ),
};

/** Settings of the services that call others. */
export const serviceKeyConfig = {
  SERVICE_KEY: signingKey.describe(
    'Ed25519 private key of this service, 32 bytes in base64url; signs its service tokens',
  ),
  ...servicePublicKeysConfig,
};

/** A new key pair in the form of the settings: the private half for one service, the public half for all. */
export function createServiceKey(service: CallingService): { privateKey: string; publicKey: string } {
  const { d, x } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return { privateKey: String(d), publicKey: `${service}:${String(x)}` };
}

/** The entry of SERVICE_PUBLIC_KEYS that belongs to a value of SERVICE_KEY. */
export function publicKeyOf(service: CallingService, privateKey: string): string {
  return `${service}:${publicText(parsePrivate(privateKey).key)}`;
}

function parsePrivate(text: string): SigningKey {
  const der = Buffer.concat([PKCS8_HEAD, Buffer.from(text, 'base64url')]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return { kid: thumbprint(publicText(key)), key };
}

function parsePublic(entry: string): PublicKey | undefined {
  const [name, x = '', ...rest] = entry.split(':');
  const service = callers.find((known) => known === name);
  if (service === undefined || rest.length > 0 || !KEY_TEXT.test(x)) return undefined;
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  // One text for one key: the last character carries bits that a decoder ignores.
  return publicText(key) === x ? { service, kid: thumbprint(x), key } : undefined;
}

function publicText(key: KeyObject): string {
  return String(
    createPublicKey(key.export({ format: 'pem', type: key.type === 'private' ? 'pkcs8' : 'spki' })).export({
      format: 'jwk',
    }).x,
  );
}

function thumbprint(x: string): string {
  return createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url');
}
