/** The part of a content that a request asks for; both ends are included. */
export interface ByteRange {
  first: number;
  last: number;
}

/**
 * Reads the header `Range` (RFC 9110, section 14.2) for a content of this size. One range of bytes is answered in part;
 * the whole content answers what is malformed, of another unit, or names several ranges, as the standard allows.
 * @returns `whole`, the range, or `unsatisfiable` when no byte of the content lies in it.
 */
export function readByteRange(header: string | undefined, bytes: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (from === '' && to === '') return 'whole';
  if (from === '') {
    const suffix = Number(to);
    return suffix === 0 || bytes === 0 ? 'unsatisfiable' : { first: Math.max(0, bytes - suffix), last: bytes - 1 };
  }
  const first = Number(from);
  if (to !== '' && Number(to) < first) return 'whole';
  if (first >= bytes) return 'unsatisfiable';
  return { first, last: to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1) };
}

/** Whether a list of entity tags in `If-None-Match` or `If-Range` names this strong tag. */
export function namesTag(header: string | undefined, etag: string, comparison: 'weak' | 'strong'): boolean {
  if (header === undefined) return false;
  if (comparison === 'strong') return header.trim() === etag;
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
