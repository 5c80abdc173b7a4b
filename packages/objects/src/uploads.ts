import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { atMost } from '@vision/shared/async/at-most';
import { fail } from '@vision/contracts/errors';
import { callStore } from './call-store.ts';
import type { Connection, Session } from './call-store.ts';
import { get, remove, stat } from './objects.ts';

export interface PutRequest {
  key: string;
  body: Buffer | Readable;
  contentType: string;
  /**
   * Length, hexadecimal SHA-256 and CRC-32 of a stream, when they are known: it then goes in one request and is never
   * collected.
   */
  known?: KnownContent | undefined;
  /** Ends the upload and removes the parts already sent; its reason is thrown. */
  signal?: AbortSignal | undefined;
}

interface KnownContent {
  bytes: number;
  sha256: string;
  crc32: number;
}

type StreamRequest = PutRequest & { body: Readable };

/** Stores an object completely or not at all. Throws as `ObjectStore` says. */
export async function put(connection: Connection, request: PutRequest): Promise<void> {
  const { body, known } = request;
  if (Buffer.isBuffer(body)) await putBuffer(connection, { ...request, body });
  else if (known) await putKnown(connection, { ...request, body }, known);
  else await putUnknown(connection, { ...request, body });
}

/**
 * Sends a buffer with its checksums, which the store compares with the received bytes. Its response has the checksums
 * of the stored object; where it has neither, as with some kinds of encryption, the object is read back.
 */
async function putBuffer(
  connection: Connection,
  { key, body, contentType, signal }: PutRequest & { body: Buffer },
): Promise<void> {
  const md5 = createHash('md5').update(body).digest();
  const headers = {
    'Content-Type': contentType,
    'Content-Length': String(body.length),
    'Content-MD5': md5.toString('base64'),
    [CRC_HEADER]: crcHeaderOf(crc32(body)),
  };
  const sha256 = connection.isEncrypted ? undefined : createHash('sha256').update(body).digest('hex');
  const answer = await callStore(connection, { operation: 'put', signal }, (_client, session) =>
    session.put({ key, headers, body, sha256 }),
  );
  if (confirms(answer, headers[CRC_HEADER], md5.toString('hex'))) return;
  if (body.equals(await get(connection, key, body.length))) return;
  throw otherBytes(key);
}

const CRC_HEADER = 'x-amz-checksum-crc32';

function crcHeaderOf(crc: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return bytes.toString('base64');
}

const otherBytes = (key: string) =>
  fail.sysUnavailable('object_store_unavailable', new Error(`the store holds other bytes than were sent: ${key}`));

function confirms(answer: IncomingHttpHeaders, crc: string | undefined, md5: string): boolean {
  const stored = answer[CRC_HEADER];
  if (stored !== undefined) return stored === crc;
  return answer.etag?.replaceAll('"', '').toLowerCase() === md5;
}

/** Compares sizes only: entity tags of parts and of encrypted objects may look like an MD5 and be none. */
async function checkSize(connection: Connection, key: string, sent: number, signal?: AbortSignal): Promise<void> {
  const stored = await stat(connection, key, signal);
  if (stored?.bytes !== sent) throw otherBytes(key);
}

/**
 * Sends a stream as it arrives; the store compares it with its length and checksum and, without encryption, its hash.
 * Its response has the checksum of the stored object; where it has not, the size of the stored object is queried.
 */
async function putKnown(
  connection: Connection,
  { key, body, contentType, signal }: StreamRequest,
  { bytes, sha256, crc32: crc }: KnownContent,
): Promise<void> {
  const headers = {
    'Content-Type': contentType,
    'Content-Length': String(bytes),
    [CRC_HEADER]: crcHeaderOf(crc),
  };
  try {
    const answer = await callStore(connection, { operation: 'put', signal, deadlineMs: Infinity }, (_client, session) =>
      session.put({ key, headers, body, sha256: connection.isEncrypted ? undefined : sha256 }),
    );
    const stored = answer[CRC_HEADER];
    if (stored === undefined) await checkSize(connection, key, bytes, signal);
    else if (stored !== headers[CRC_HEADER]) throw otherBytes(key);
  } finally {
    body.destroy();
  }
}

/** Longest wait for a part in flight when its upload is abandoned. */
const SETTLE_MS = 5_000;
/**
 * Longest wait for the clean-up of a failed upload; if the store hangs, the clean-up continues in the background.
 */
const CLEAN_UP_MS = 2_000;

/**
 * Sends a stream in parts until it ends, fails, or the caller abandons it. A part that arrives completely while its
 * upload is being aborted can stay in the store without limit, so the part in flight completes before the clean-up.
 */
async function putUnknown(connection: Connection, { key, body, contentType, signal }: StreamRequest): Promise<void> {
  const broken = new AbortController();
  body.on('error', (error) => broken.abort(error));
  const ended = signal ? AbortSignal.any([signal, broken.signal]) : broken.signal;
  const cut = new AbortController();
  let patience: NodeJS.Timeout | undefined;
  const onEnded = () => {
    body.destroy(ended.reason as Error);
    patience = setTimeout(() => cut.abort(ended.reason), SETTLE_MS);
  };
  ended.addEventListener('abort', onEnded, { once: true });
  try {
    ended.throwIfAborted();
    const limits = { operation: 'put_parts', signal: cut.signal, givenUp: ended, deadlineMs: Infinity };
    const sent = await callStore(connection, limits, (_client, session) =>
      putParts({ session, bucket: connection.bucket, key, contentType, body, ended }),
    );
    ended.throwIfAborted();
    await checkSize(connection, key, sent, ended);
  } catch (error) {
    // Destroyed with an error: without one, a pipeline whose source ended before it was read never settles.
    body.destroy(error as Error);
    await atMost(CLEAN_UP_MS, cleanUp(connection, key, ended.aborted));
    throw ended.aborted ? ended.reason : error;
  } finally {
    ended.removeEventListener('abort', onEnded);
    clearTimeout(patience);
  }
}

async function cleanUp(connection: Connection, key: string, wasGivenUp: boolean): Promise<void> {
  await abortIncomplete(connection, key).catch(() => undefined);
  // The request that was allowed to finish may have completed the upload.
  if (wasGivenUp) await remove(connection, [key]).catch(() => undefined);
}

/** Size of a part: the minimum of S3, except for the last one. */
export const PART_BYTES = 5 * 1024 * 1024;

interface PartsRequest {
  session: Session;
  bucket: string;
  key: string;
  contentType: string;
  body: Readable;
  /** No further request begins after it has fired. */
  ended: AbortSignal;
}

/**
 * Sends a stream of any length as a multipart upload, with one part in memory: a single buffer is filled, sent and
 * filled again, and the stream waits meanwhile. The client's own way holds several parts at once and a copy of each.
 * @returns the number of bytes sent
 * @throws errors of the stream, the signal or the client; the upload then stays incomplete.
 */
async function putParts({ session, bucket, key, contentType, body, ended }: PartsRequest): Promise<number> {
  const uploadId = await session.beginUpload({ key, contentType });
  // The client escapes it when it completes an upload, and nowhere else.
  const escaped = encodeURIComponent(uploadId);
  const sent: { part: number; etag: string }[] = [];
  const buffer = Buffer.allocUnsafeSlow(PART_BYTES);
  let filled = 0;
  let bytes = 0;
  const send = async () => {
    ended.throwIfAborted();
    const part = buffer.subarray(0, filled);
    // With TLS the signature does not cover the content, so the store checks the received bytes by this header.
    const headers = { 'Content-MD5': createHash('md5').update(part).digest('base64') };
    const place = { bucketName: bucket, objectName: key, uploadID: escaped, partNumber: sent.length + 1 };
    // An upload may outlive the keys of a pod.
    const client = await session.client();
    sent.push(await client.uploadPart({ ...place, headers }, part));
    bytes += filled;
    filled = 0;
  };
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    for (let offset = 0; offset < chunk.length;) {
      const taken = chunk.copy(buffer, filled, offset);
      filled += taken;
      offset += taken;
      if (filled === PART_BYTES) await send();
    }
  }
  // An upload needs at least one part.
  if (filled > 0 || sent.length === 0) await send();
  ended.throwIfAborted();
  await (await session.client()).completeMultipartUpload(bucket, key, uploadId, sent);
  return bytes;
}

/**
 * Ends multipart uploads below a prefix: all, or those begun before an instant; returns how many. The store dates them
 * by its own clock, so an upload of a moment ago is only found for sure without an instant.
 */
export async function abortIncomplete(connection: Connection, prefix: string, begunBefore?: Date): Promise<number> {
  const { bucket } = connection;
  let aborted = 0;
  let [keyMarker, uploadIdMarker] = ['', ''];
  for (;;) {
    const page = await callStore(connection, { operation: 'list_uploads' }, (client) =>
      client.listIncompleteUploadsQuery(bucket, prefix, keyMarker, uploadIdMarker, ''),
    );
    for (const { key, uploadId, initiated } of page.uploads) {
      if (begunBefore && initiated >= begunBefore) continue;
      const wasThere = await callStore(connection, { operation: 'abort_upload' }, (client) =>
        client.abortMultipartUpload(bucket, key, encodeURIComponent(uploadId)).then(() => true, unlessGone),
      );
      if (wasThere) aborted += 1;
    }
    const last = page.uploads.at(-1);
    if (!page.isTruncated || !last) return aborted;
    // Taken from the page itself: the client loses the id of the next page on its way, and does not escape it.
    keyMarker = last.key;
    uploadIdMarker = encodeURIComponent(last.uploadId);
  }
}

/** The upload was aborted after it was listed, or a store that crashed lists one that it does not have. */
function unlessGone(error: unknown): false {
  const { code } = error as { code?: unknown };
  if (code === 'NoSuchUpload' || code === 'NotFound') return false;
  throw error;
}
