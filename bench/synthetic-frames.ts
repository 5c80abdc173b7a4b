import { randomBytes } from 'node:crypto';
import type { TrackedObject } from '@vision/contracts/detection';
import type { FrameData } from '@vision/contracts/frame-events';

const LABELS = ['person', 'car', 'bicycle', 'bus'];

/** A task id of now, in the form the tasks service makes them (UUIDv7). */
export function syntheticTaskId(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes.writeUInt8(0x70 | ((bytes[6] ?? 0) & 0x0f), 6);
  bytes.writeUInt8(0x80 | ((bytes[8] ?? 0) & 0x3f), 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** A frame as inference would publish it, with as many objects as asked for. */
export function syntheticFrame(taskId: string, seq: number, objects: number): FrameData {
  return {
    job_id: taskId,
    attempt: 1,
    seq,
    frame_time_ms: seq * 200,
    image: { width: 1920, height: 1080 },
    objects: Array.from({ length: objects }, (_, index) => syntheticObject(seq, index)),
  };
}

function syntheticObject(seq: number, index: number): TrackedObject {
  const rounded = (value: number) => Math.round(value * 1e5) / 1e5;
  return {
    label: LABELS[index % LABELS.length] ?? 'person',
    score: rounded(0.35 + 0.6 * Math.random()),
    bbox: {
      format: 'cxcywh_normalized',
      cx: rounded(Math.random()),
      cy: rounded(Math.random()),
      width: rounded(Math.random() / 4),
      height: rounded(Math.random() / 4),
    },
    track_id: String(1 + index + Math.floor(seq / 100)),
  };
}
