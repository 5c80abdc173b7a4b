import { createHash } from 'node:crypto';
import { readBody } from '@vision/shared/http/read-body';
import { sendSigned } from './send-signed.ts';
import type { ObjectTarget, Send } from './send-signed.ts';
import { xmlElement } from './xml-element.ts';

export interface NewUpload {
  key: string;
  contentType: string;
}

const LONGEST_ANSWER = 64 * 1024;

/**
 * Begins a multipart upload, which the S3 client does for uploads of its own only.
 * @returns the id of the upload. @throws Error with the `code` of the store when it refuses.
 */
export async function beginUpload(send: Send, target: ObjectTarget, { key, contentType }: NewUpload): Promise<string> {
  const reply = await sendSigned(send, target, {
    method: 'POST',
    key,
    query: { uploads: '' },
    headers: { 'Content-Type': contentType, 'Content-Length': '0' },
    body: Buffer.alloc(0),
    sha256: createHash('sha256').digest('hex'),
  });
  const uploadId = xmlElement((await readBody(reply, LONGEST_ANSWER)).toString(), 'UploadId');
  if (!uploadId) throw new Error('the store began an upload without an id');
  return uploadId;
}
