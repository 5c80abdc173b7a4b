import { Readable } from 'node:stream';
import { SNIFF_BYTES } from '@vision/streams/container-format';
import { withinTime } from '@vision/streams/within-time';

/** The first bytes, and a stream of all bytes. @throws SourceError `timeout`; any error of the body */
export async function readHead(body: Readable, timeoutMs: number): Promise<{ head: Buffer; whole: Readable }> {
  const chunks: Buffer[] = [];
  let size = 0;
  const read = async () => {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size >= SNIFF_BYTES) break;
    }
    return Buffer.concat(chunks);
  };
  const head = await withinTime(read(), timeoutMs, () => body.destroy());
  async function* whole(): AsyncGenerator<Buffer, void> {
    yield head;
    if (!body.readableEnded) yield* body as AsyncIterable<Buffer>;
  }
  return { head, whole: Readable.from(whole(), { objectMode: false }) };
}
