import type { Readable } from 'node:stream';
import type { Context } from './exchange.ts';

/** Size of a part: the smallest that S3 takes, except for the last one. */
export const PART_BYTES = 5 * 1024 * 1024;

/**
 * Sends a stream of any length as a multipart upload, with one part in memory: a single buffer is filled, sent and
 * filled again, and the stream waits meanwhile. The client's own way holds several parts at once and a copy of each.
 * @throws what the stream or the client throws; the upload is then left begun.
 */
export async function putParts(
  { client, bucket: bucketName }: Pick<Context, 'client' | 'bucket'>,
  { key: objectName, body, headers }: { key: string; body: Readable; headers: Record<string, string> },
): Promise<void> {
  const uploadId = await client.initiateNewMultipartUpload(bucketName, objectName, headers);
  const sent: { part: number; etag: string }[] = [];
  const buffer = Buffer.allocUnsafeSlow(PART_BYTES);
  let filled = 0;
  const send = async () => {
    const part = sent.length + 1;
    const query = `partNumber=${part}&uploadId=${encodeURIComponent(uploadId)}`;
    const options = { method: 'PUT', bucketName, objectName, query, headers: {} };
    const reply = await client.makeRequestAsyncOmit(options, buffer.subarray(0, filled));
    sent.push({ part, etag: (reply.headers.etag ?? '').replaceAll('"', '') });
    filled = 0;
  };
  for await (const chunk of body as AsyncIterable<Buffer>) {
    for (let offset = 0; offset < chunk.length;) {
      const taken = chunk.copy(buffer, filled, offset);
      filled += taken;
      offset += taken;
      if (filled === PART_BYTES) await send();
    }
  }
  // An upload has one part at least.
  if (filled > 0 || sent.length === 0) await send();
  await client.completeMultipartUpload(bucketName, objectName, uploadId, sent);
}
