import { SNIFF_BYTES, sniffContainer } from '@vision/streams/container-format';

/**
 * Whether the beginning of an HTTP body may be a stream that the backend can read: a known container or playlist. Too
 * few bytes to decide are accepted, unless they are text.
 */
export function mayBeStream(head: Buffer, contentType = ''): boolean {
  if (sniffContainer(head, contentType) !== undefined) return true;
  if (head.length === 0 || head.length >= SNIFF_BYTES || /^text\//i.test(contentType)) return false;
  return /^multipart\/x-mixed-replace/i.test(contentType) || !isPlainText(head);
}

function isPlainText(head: Buffer): boolean {
  return head.every((byte) => byte === 9 || byte === 10 || byte === 13 || (byte >= 0x20 && byte < 0x7f));
}
