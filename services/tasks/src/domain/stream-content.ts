/** Media types of things that can be streamed, for containers whose first bytes say nothing. */
const streamTypes =
  /^(video\/|audio\/|multipart\/x-mixed-replace|image\/jpeg|application\/(octet-stream|ogg|mp4|x-mpegurl|vnd\.apple\.mpegurl|dash\+xml|x-flv|mpegts))/i;

/**
 * Whether the beginning of an HTTP body can be a video stream: a known container or playlist by its first bytes, or
 * anything that is no text and is declared as media. Web pages, JSON and plain text are none, even if they are
 * declared as.
 */
export function looksLikeStream(head: Buffer, contentType: string | undefined): boolean {
  if (head.length === 0) return false;
  const text = head
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '')
    .trimStart();
  if (/^#EXTM3U/.test(text) || /^<(\?xml[^>]*>\s*<)?MPD[\s>]/i.test(text)) return true;
  if (text.startsWith('<') || /^text\/html/i.test(contentType ?? '')) return false;
  if (isContainer(head)) return true;
  const isMultipart = /^multipart\/x-mixed-replace/i.test(contentType ?? '');
  return streamTypes.test(contentType ?? '') && (isMultipart || !isPlainText(head));
}

/** MP4/MOV, MPEG-TS, FLV, Matroska/WebM, MPEG-PS, Ogg, AVI, ASF, JPEG, ADTS/MP3, raw H.264/H.265 (Annex B). */
function isContainer(head: Buffer): boolean {
  const at = (offset: number, text: string) => head.subarray(offset, offset + text.length).toString('latin1') === text;
  const starts = (...bytes: number[]) => bytes.every((byte, index) => head[index] === byte);
  const transportStream = head[0] === 0x47 && (head.length <= 188 || head[188] === 0x47);
  return (
    ['ftyp', 'moov', 'mdat', 'moof', 'styp', 'wide', 'free'].some((atom) => at(4, atom)) ||
    transportStream ||
    at(0, 'FLV\u0001') ||
    starts(0x1a, 0x45, 0xdf, 0xa3) ||
    starts(0x00, 0x00, 0x01) ||
    starts(0x00, 0x00, 0x00, 0x01) ||
    at(0, 'OggS') ||
    (at(0, 'RIFF') && at(8, 'AVI ')) ||
    starts(0x30, 0x26, 0xb2, 0x75) ||
    starts(0xff, 0xd8, 0xff)
  );
}

function isPlainText(head: Buffer): boolean {
  return head.every((byte) => byte === 9 || byte === 10 || byte === 13 || (byte >= 0x20 && byte < 0x7f));
}
