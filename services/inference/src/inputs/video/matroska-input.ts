import { Readable, pipeline } from 'node:stream';
import { sourceReasonOf } from '@vision/streams/source-error';
import type { SourceReason } from '@vision/streams/source-error';
import type { LiveInput } from '../live-input.ts';

/**
 * An open source whose frames are packed here: ffmpeg reads them from its standard input and gets no other data.
 * @param packed pieces of a Matroska stream; a failure of it is the failure of the source
 * @param close ends the connection, and `packed` with it
 */
export function matroskaInput(packed: AsyncIterable<Buffer>, close: () => void): LiveInput {
  let reason: SourceReason | undefined;
  async function* untilFailure(): AsyncGenerator<Buffer, void> {
    let isEmpty = true;
    try {
      for await (const piece of packed) {
        isEmpty = false;
        yield piece;
      }
      if (isEmpty) reason = 'stream_ended';
    } catch (error) {
      reason = sourceReasonOf(error);
    }
  }
  const stream = Readable.from(untilFailure(), { objectMode: false });
  return {
    format: { container: 'matroska', delivery: 'packed' },
    feed: (video) => pipeline(stream, video, () => undefined),
    failure: () => reason,
    // A live source that ends is lost, not complete.
    isFinished: () => false,
    close: () => {
      close();
      stream.destroy();
    },
  };
}
