import { SourceError } from '../../../services/inference/src/domain/source-error.ts';
import { createFlvVideo } from '../../../services/inference/src/inputs/rtmp/flv-video.ts';
import { checkVideo } from '../matroska-check.ts';
import { readAll, recordsOf } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

/** Video of RTMP: each record is a time in 16 bits of 10 ms, and the body of a message. */
export const target: FuzzTarget = {
  maxBytes: 8192,
  check: (input) => {
    const take = createFlvVideo();
    const read = (record: Buffer) =>
      record.length < 2 ? [] : take((record.readUInt16BE() * 65_537 * 10) % 2 ** 32, record.subarray(2));
    const records = recordsOf(input);
    const reasons = ['unreadable', 'codec_unsupported', 'format_changed'];
    const { parts } = readAll(read, records, { by: SourceError, reasons });
    checkVideo(parts, records);
  },
};
