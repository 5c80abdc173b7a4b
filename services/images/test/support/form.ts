/** An image that passes the checks of the service: the signature of a format, a text for the fake backend, zeros. */
export function picture(text = 'picture', { bytes = 64, type = 'png' }: { bytes?: number; type?: PictureType } = {}) {
  const content = Buffer.alloc(bytes);
  signatures[type].copy(content);
  content.write(text, 16, 'latin1');
  return content;
}

type PictureType = keyof typeof signatures;
const signatures = {
  png: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  jpeg: Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
  webp: Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(4), Buffer.from('WEBP')]),
};

export interface Part {
  name: string;
  content: Buffer | string;
  /** Makes the part a file. */
  filename?: string;
  type?: string;
}

export const file = (content: Buffer | string, over: Partial<Part> = {}): Part => ({
  name: 'files',
  content,
  filename: 'a.png',
  type: 'image/png',
  ...over,
});
export const files = (...contents: (Buffer | string)[]): Part[] => contents.map((content) => file(content));
export const scene = (code: string): Part => ({ name: 'scene_code', content: code });

export const BOUNDARY = 'test-boundary-7d93';

/** The body of a form, written by hand so that it can be malformed. */
export function multipart(parts: Part[], { end = true, boundary = BOUNDARY } = {}): Buffer {
  const chunks = parts.flatMap(({ name, content, filename, type }) => [
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"` +
        (filename === undefined ? '' : `; filename="${filename}"`) +
        (type === undefined ? '' : `\r\nContent-Type: ${type}`) +
        '\r\n\r\n',
    ),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...chunks, Buffer.from(end ? `--${boundary}--\r\n` : '')]);
}
