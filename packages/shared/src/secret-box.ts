import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** Keeps secrets at rest and compares them without keeping them. */
export interface SecretBox {
  /**
   * Encrypts; `context` (an id of the row) must be given again to open, so that a box cannot be moved to another row.
   */
  seal: (text: string, context: string) => Buffer;
  /** @throws Error when the box was changed, belongs to another context, or its key is not known any more. */
  open: (box: Buffer, context: string) => string;
  /** Keyed digest (HMAC-SHA-256) with the version of its key: without the key it says nothing about the text. */
  digest: (text: string, label: string) => string;
  /** Whether `digest` was made of this text and label, with any known key. */
  matches: (digest: string, text: string, label: string) => boolean;
}

/** Versioned keys: `<base64>` (version 1) or `2:<base64>,1:<base64>`; the first one seals, all of them open. */
export const secretKeys = z.string().transform((text, context) => {
  const keys = text.split(',').map(parseKey);
  if (keys.every((key) => key !== undefined) && new Set(keys.map((key) => key.version)).size === keys.length)
    return keys;
  context.addIssue({ code: 'custom', message: 'keys of 32 bytes in base64, each with its own version 1..255' });
  return z.NEVER;
});

/** Setting of the services that keep stream addresses. */
export const streamKeyConfig = {
  STREAM_URL_KEY: secretKeys.describe(
    'Keys of stored stream addresses (inference) and of the digests that repeated requests are compared by (tasks): ' +
      '32 bytes in base64, optionally <version>:<key>, comma separated',
  ),
};

export interface SecretKey {
  version: number;
  key: Buffer;
}

/**
 * AES-256-GCM. Layout of a box: key version (1 byte), nonce (12, random), tag (16), ciphertext. Encryption and digests
 * use different keys, derived with HKDF-SHA-256.
 */
export function createSecretBox(keys: SecretKey[]): SecretBox {
  // Derived once: every webhook opens boxes.
  const sealing = keys.map((by): SealingKey => ({ version: by.version, sealingKey: derive(by, 'seal') }));
  const [current] = keys;
  const [sealingCurrent] = sealing;
  if (!current || !sealingCurrent) throw new Error('no key');
  const find = (version: number | undefined) => {
    const found = sealing.find((key) => key.version === version);
    if (!found) throw new Error(`key version ${String(version)} is not known`);
    return found;
  };
  const digestWith = (by: SecretKey, text: string, label: string) =>
    `${by.version}:${createHmac('sha256', derive(by, `digest ${label}`))
      .update(text)
      .digest('hex')}`;
  return {
    seal: (text, context) => seal(sealingCurrent, text, context),
    open: (box, context) => open(find(box[0]), box, context),
    digest: (text, label) => digestWith(current, text, label),
    matches: (digest, text, label) => {
      const by = keys.find((key) => key.version === Number(digest.split(':')[0]));
      if (!by) return false;
      const [given, wanted] = [Buffer.from(digest), Buffer.from(digestWith(by, text, label))];
      return given.length === wanted.length && timingSafeEqual(given, wanted);
    },
  };
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

interface SealingKey {
  version: number;
  sealingKey: Buffer;
}

function seal(by: SealingKey, text: string, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', by.sealingKey, nonce).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.from([by.version]), nonce, cipher.getAuthTag(), sealed]);
}

function open(by: SealingKey, box: Buffer, context: string): string {
  if (box.length < HEAD_BYTES) throw new Error('box too short');
  const nonce = box.subarray(1, 1 + NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', by.sealingKey, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(box.subarray(1 + NONCE_BYTES, HEAD_BYTES));
  return Buffer.concat([decipher.update(box.subarray(HEAD_BYTES)), decipher.final()]).toString('utf8');
}

function derive(by: SecretKey, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', by.key, Buffer.alloc(0), `vision secret-box ${purpose}`, 32));
}

function parseKey(text: string): SecretKey | undefined {
  const [, version = '1', base64 = ''] = /^(?:(\d{1,3}):)?([A-Za-z0-9+/_-]+={0,2})$/.exec(text.trim()) ?? [];
  const key = Buffer.from(base64, 'base64');
  const number = Number(version);
  return key.length === 32 && number >= 1 && number <= 255 ? { version: number, key } : undefined;
}
