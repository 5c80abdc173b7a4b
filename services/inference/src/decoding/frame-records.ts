import type { Readable } from 'node:stream';

/** What ffmpeg's filters write about one frame. */
export interface FrameRecord {
  /** Its number since the filters were built. */
  number: number;
  ptsMs: number;
}

export interface RecordQueue {
  /** The next record; undefined when the stream has ended. */
  next: () => Promise<FrameRecord | undefined>;
}

/** Far above what the pipes between ffmpeg and the service hold. */
const MOST_WAITING = 1_000;
const LONGEST_LINE = 4_096;

/** Reads the records that belong to the pixels of another descriptor. What is no record is passed over. */
export function readRecords(stream: Readable): RecordQueue {
  const waiting: FrameRecord[] = [];
  let news = Promise.withResolvers<void>();
  let isEnded = false;
  onRecords(stream, (record) => {
    waiting.push(record);
    if (waiting.length >= MOST_WAITING) stream.pause();
    news.resolve();
  });
  const end = () => {
    isEnded = true;
    news.resolve();
  };
  stream.on('end', end).on('close', end).on('error', end);
  return {
    next: async () => {
      while (waiting.length === 0 && !isEnded) {
        news = Promise.withResolvers();
        await news.promise;
      }
      const record = waiting.shift();
      if (waiting.length === 0) stream.resume();
      return record;
    },
  };
}

/** Calls `onRecord` for each record of a stream, as they arrive. */
export function onRecords(stream: Readable, onRecord: (record: FrameRecord) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(-LONGEST_LINE);
    for (const line of lines) {
      const found = /^frame:(\d{1,15})\s+pts:(-?\d{1,15})\s/.exec(line);
      if (found) onRecord({ number: Number(found[1]), ptsMs: Number(found[2]) });
    }
  });
}
