import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { fail } from '@vision/contracts/errors';
import type { IncomingFile } from '@vision/creation/multipart/form';
import type { SpoolSession } from '../clients/spool.ts';
import { isDeclaredImage, SNIFF_BYTES, sniffImageType } from '../domain/image-type.ts';
import type { ReceivedImage } from '../use-cases/process-image.ts';

/** Streams one image into the spool; counts, hashes and sniffs it on the way. */
export async function receiveImage(
  { stream, declaredType }: IncomingFile,
  session: SpoolSession,
): Promise<ReceivedImage> {
  if (!isDeclaredImage(declaredType)) throw refuseType();
  const hash = createHash('sha256');
  const file = session.create();
  let head = Buffer.alloc(0);
  let bytes = 0;
  let checksum = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (head.length < SNIFF_BYTES) {
      head = Buffer.concat([head, chunk.subarray(0, SNIFF_BYTES - head.length)]);
      if (head.length === SNIFF_BYTES && !sniffImageType(head)) throw refuseType();
    }
    hash.update(chunk);
    checksum = crc32(chunk, checksum);
    await file.append(chunk);
  }
  const contentType = sniffImageType(head);
  if (!contentType) throw refuseType();
  return { sha256: hash.digest('hex'), crc32: checksum, bytes, contentType, read: file.read };
}

export const refuseType = () =>
  fail.requestInvalid('image_type_unsupported', 'Send images as JPEG, PNG or WEBP, and declare them as such.', {
    field: 'files',
  });
