import { createHmac, timingSafeEqual } from 'node:crypto';
import type { KeyScope } from '@vision/contracts/scopes';
import type { Peppers } from './peppers.ts';

/** A key in the form for operators; never its digest. */
export interface ApiKey {
  key_id: string;
  subject: string;
  name: string;
  /** null: all scopes. */
  scopes: KeyScope[] | null;
  created_at: Date;
  last_used_at: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
}

/** Stored form of a key. */
export interface KeyDigest {
  digest: Buffer;
  pepperVersion: number;
}

/** Bytes of randomness in the public id and in the secret of a key. */
export const KEY_ID_BYTES = 8;
export const SECRET_BYTES = 32;

/** Formats a key: `vk_<16 hexadecimal digits>_<43 characters of base64url>`. */
export function formatKey(id: Buffer, secret: Buffer): { keyId: string; key: string } {
  const keyId = id.toString('hex');
  return { keyId, key: `vk_${keyId}_${secret.toString('base64url')}` };
}

/** The public id of a presented key; undefined when the text cannot be a key. */
export function keyIdOf(presented: string): string | undefined {
  return /^vk_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/.exec(presented)?.[1];
}

/**
 * HMAC-SHA-256 over the whole key with the current pepper: the secret has 256 bits, so a slow hash would add nothing.
 */
export function digestKey(key: string, peppers: Peppers): KeyDigest {
  return { digest: hmac(key, peppers, peppers.current), pepperVersion: peppers.current };
}

/**
 * Compares in constant time. Without a stored digest the same work is done against a dummy, so an unknown id takes as
 * long as a wrong secret. A digest whose pepper was retired never matches.
 */
export function keyMatches(presented: string, stored: KeyDigest | undefined, peppers: Peppers): boolean {
  const version = stored && peppers.byVersion.has(stored.pepperVersion) ? stored.pepperVersion : undefined;
  const computed = hmac(presented, peppers, version ?? peppers.current);
  const expected = stored?.digest.length === computed.length ? stored.digest : DUMMY;
  const isEqual = timingSafeEqual(computed, expected);
  return isEqual && version !== undefined;
}

const DUMMY = Buffer.alloc(32);

function hmac(key: string, peppers: Peppers, version: number): Buffer {
  const pepper = peppers.byVersion.get(version) ?? Buffer.alloc(32);
  return createHmac('sha256', pepper).update(key).digest();
}
