import { randomBytes } from 'node:crypto';

/** An id of a task, which results stores frames of: a UUID of version 7. */
function newJobId(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes.writeUInt8(0x70, 6);
  bytes.writeUInt8(0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** A job for a stream on this machine. */
export const streamJob = (url: string) => ({
  job_id: newJobId(),
  scene_code: 'person_vehicle',
  lower_bound: 0.3,
  source: { kind: 'stream' as const, url, pinned_address: '127.0.0.1' },
});
