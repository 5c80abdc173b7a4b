import assert from 'node:assert/strict';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { parseStreamUrl } from '@vision/streams/stream-url';
import { AppError } from '@vision/contracts/errors';
import { SourceError } from '@vision/streams/source-error';
import { readPlaylist } from '../../../services/inference/src/inputs/hls-playlist.ts';
import { attempt } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

const ADDRESS = 'http://camera.example.org/live/index.m3u8';
const policy = createAddressPolicy();
const reasons = ['unreadable', 'codec_unsupported', 'address_forbidden', 'no_video_track'];

/** Playlists: numbers are numbers, and every address is one that our own grammar reads or refuses as a whole. */
export const target: FuzzTarget = {
  maxBytes: 16_384,
  bulk: {
    kind: 'message',
    mostBytes: 1 << 20,
    mostMs: 200,
    open: () => (message) => void readPlaylist(message.toString('utf8'), ADDRESS),
  },
  check: (input) => {
    const read = () => readPlaylist(input.toString('utf8'), ADDRESS);
    const outcome = attempt(read, { by: SourceError, reasons });
    if ('refused' in outcome) return;
    if (outcome.read.kind === 'variants') {
      checkAddress(outcome.read.uri);
      return;
    }
    const { segments, targetMs } = outcome.read;
    assert.ok(targetMs >= 1000 && targetMs <= 60_000, `a target of ${targetMs} ms`);
    for (const { number, uri, durationMs, initUri, key } of segments) {
      assert.ok(Number.isSafeInteger(number) && number >= 0);
      assert.ok(durationMs >= 0 && durationMs <= 60_000, `${durationMs} ms`);
      assert.equal(key?.iv.length ?? 16, 16);
      [uri, initUri, key?.uri].forEach(checkAddress);
    }
  },
};

function checkAddress(uri: string | undefined): void {
  if (uri === undefined) return;
  assert.match(uri, /^https?:\/\/[^#\s]+$/);
  const outcome = attempt(() => parseStreamUrl(uri, policy), { by: AppError, reasons: ['stream_url_invalid'] });
  if ('read' in outcome) assert.match(outcome.read.scheme, /^https?$/);
}
