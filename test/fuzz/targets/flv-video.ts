import { SourceError } from '@vision/streams/source-error';
import { createFlvVideo } from '../../../services/inference/src/inputs/rtmp/flv-video.ts';
import { checkVideo } from '../matroska-check.ts';
import { readAll, recordsOf } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

/** Video of RTMP: each record is a time in 16 bits of 10 ms, and the body of a message. */
export const target: FuzzTarget = {
  maxBytes: 8192,
  bulk: { kind: 'message', mostMs: 40, open: () => readLarge },
  check: (input) => {
    const read = openVideo();
    const records = recordsOf(input);
    const reasons = ['unreadable', 'codec_unsupported', 'format_changed'];
    const { parts } = readAll(read, records, { by: SourceError, reasons });
    checkVideo(parts, records);
  },
};

function openVideo(): (record: Buffer) => Buffer[] {
  const take = createFlvVideo();
  return (record) =>
    record.length < 2 ? [] : take((record.readUInt16BE() * 65_537 * 10) % 2 ** 32, record.subarray(2));
}

/** The last record goes on to the end of the message. */
function readLarge(message: Buffer, inputBytes: number): void {
  const read = openVideo();
  const records = recordsOf(message.subarray(0, inputBytes));
  const last = records.pop() ?? Buffer.alloc(0);
  records.forEach(read);
  read(Buffer.concat([last, message.subarray(inputBytes)]));
}
