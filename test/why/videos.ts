import { example } from '../support/system.ts';

/** The video of the examples, made longer by a box that players skip. */
export async function paddedVideo(bytes: number): Promise<Buffer> {
  const played = await example('street.mp4');
  if (bytes <= played.length) return played;
  const box = Buffer.alloc(bytes - played.length);
  box.writeUInt32BE(box.length);
  box.write('free', 4);
  return Buffer.concat([played, box]);
}
