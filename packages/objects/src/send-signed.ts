import { createHash, createHmac } from 'node:crypto';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import { SignatureV4 } from '@smithy/signature-v4';
import { readBody } from '@vision/shared/http/read-body';
import type { S3Keys } from './session-keys.ts';
import { xmlElement } from './xml-element.ts';

export type Send = (options: RequestOptions, onReply?: (reply: IncomingMessage) => void) => ClientRequest;

/** Where and as whom objects are stored. */
export interface ObjectTarget {
  /** `http(s)://host:port` */
  endpoint: URL;
  region: string;
  bucket: string;
  keys: () => Promise<S3Keys>;
}

export interface SignedRequest {
  method: 'PUT' | 'POST';
  key: string;
  query?: Record<string, string>;
  headers: Record<string, string>;
  body: Buffer | Readable;
  /** Hexadecimal, part of the signature; undefined where encryption protects the content. */
  sha256: string | undefined;
}

/**
 * Sends a request for an object that the S3 client does not send as it should be, signed here.
 * @returns the answer, its body unread. @throws Error with the `code` of the store when it refuses.
 */
export async function sendSigned(
  send: Send,
  { endpoint, region, bucket, keys }: ObjectTarget,
  { method, key, query = {}, headers, body, sha256 }: SignedRequest,
): Promise<IncomingMessage> {
  const { hostname, port, protocol, host } = endpoint;
  const request = {
    method,
    protocol,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port: Number(port) }),
    path: `/${[bucket, ...key.split('/')].map(escaped).join('/')}`,
    query,
    headers: { ...headers, host, 'x-amz-content-sha256': sha256 ?? 'UNSIGNED-PAYLOAD' },
  };
  const { accessKey: accessKeyId, secretKey: secretAccessKey, sessionToken } = await keys();
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
  const signer = new SignatureV4({ service: 's3', region, credentials, sha256: Sha256, uriEscapePath: false });
  const signed = await signer.sign(request);
  const search = new URLSearchParams(query).toString();
  const path = search === '' ? request.path : `${request.path}?${search}`;
  const reply = await exchanged(send, { ...request, path, headers: signed.headers }, body);
  if (reply.statusCode !== 200) throw await refusalOf(reply);
  return reply;
}

/** Sends a request with its body. @throws the error of either stream. */
function exchanged(send: Send, options: RequestOptions, body: Buffer | Readable): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = send(options, resolve);
    outgoing.once('error', reject);
    if (Buffer.isBuffer(body)) outgoing.end(body);
    else pipeline(body, outgoing, (error) => error && reject(error));
  });
}

const LONGEST_REFUSAL = 64 * 1024;
const CODES: Partial<Record<number, string>> = { 403: 'AccessDenied', 404: 'NotFound', 503: 'SlowDown' };

async function refusalOf(reply: IncomingMessage): Promise<Error> {
  const { statusCode = 0 } = reply;
  const text = reply.readableFlowing ? '' : (await readBody(reply, LONGEST_REFUSAL)).toString();
  const code = xmlElement(text, 'Code') ?? CODES[statusCode] ?? 'UnknownError';
  return Object.assign(new Error(xmlElement(text, 'Message') ?? `the store answered ${statusCode}`), { code });
}

/** A name in the path of an address, as S3 signs it: `encodeURIComponent` leaves five characters. */
const escaped = (name: string) =>
  encodeURIComponent(name).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

type Source = string | ArrayBuffer | ArrayBufferView;
function bytesOf(source: Source): string | Uint8Array {
  if (typeof source === 'string') return source;
  if (!ArrayBuffer.isView(source)) return new Uint8Array(source);
  return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
}

/** SHA-256 of Node.js, or its HMAC, in the form that the signer takes. */
class Sha256 {
  readonly #hash;

  constructor(secret?: Source) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: Source): void {
    this.#hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
}
