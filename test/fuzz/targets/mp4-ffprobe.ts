import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Mp4RefusedError } from '../../../services/inference/src/domain/mp4/box.ts';
import type { Mp4Track } from '../../../services/inference/src/domain/mp4/tracks.ts';
import { isSideways, isZero } from '../../../services/inference/src/domain/mp4/turn.ts';
import { validateMp4 } from '../../../services/inference/src/domain/mp4/validate-mp4.ts';
import { attemptLater } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

const folder = mkdtempSync(join(tmpdir(), 'vision-fuzz-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'input.mp4');

/**
 * Video files that the validator takes: ffprobe sees no stream, no turn and no edit that the validator did not see.
 * Each of them costs a process, so few inputs are tried.
 */
export const target: FuzzTarget = {
  maxBytes: 16_384,
  // Time of a process on a machine that others use.
  slowMs: 20_000,
  check: async (input) => {
    const read = async (at: number, length: number) => input.subarray(at, at + length);
    const outcome = await attemptLater(() => validateMp4(read, input.length), { by: Mp4RefusedError });
    if ('refused' in outcome || outcome.read.length === 0) return;
    const seen = await probe(input);
    if (seen) checkSeen(seen, outcome.read);
  },
};

interface Seen {
  streams: { id?: string; codec_type?: string; side_data_list?: { rotation?: number }[] }[];
  edits: number;
}

async function probe(input: Buffer): Promise<Seen | undefined> {
  writeFileSync(file, input);
  const limits = [
    '-max_alloc',
    '268435456',
    '-protocol_whitelist',
    'file',
    '-format_whitelist',
    'mov',
    '-threads',
    '1',
  ];
  const entries = ['-show_entries', 'stream=id,codec_type:stream_side_data=rotation', '-of', 'json'];
  try {
    const args = ['-v', 'debug', ...limits, ...entries, '-i', `file:${file}`];
    const { stdout, stderr } = await promisify(execFile)('ffprobe', args, { timeout: 8000, maxBuffer: 1 << 24 });
    const { streams = [] } = JSON.parse(stdout) as Partial<Seen>;
    return { streams, edits: stderr.split(/edit list \d+ - media time/).length - 1 };
  } catch {
    // A file that ffprobe refuses, or does not get through, is refused by the service too.
    return undefined;
  }
}

function checkSeen({ streams, edits }: Seen, tracks: readonly Mp4Track[]): void {
  for (const { id, codec_type: type, side_data_list: sides = [] } of streams) {
    if (id === undefined) continue;
    const track = tracks.find((one) => one.id === Number(id));
    assert.ok(track, `a stream ${id} of ${tracks.length} tracks`);
    // Nothing else is turned, and a matrix of zeros has no angle.
    if (type !== 'video' || isZero(track.turn)) continue;
    const rotation = sides.find((side) => side.rotation !== undefined)?.rotation ?? 0;
    assert.equal(Math.abs(rotation) % 180, isSideways(track.turn) ? 90 : 0, `a turn by ${rotation}`);
  }
  const validated = tracks.reduce((sum, track) => sum + track.edits, 0);
  assert.ok(edits <= validated, `${edits} edits of ${validated}`);
}
