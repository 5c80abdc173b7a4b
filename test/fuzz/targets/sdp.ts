import assert from 'node:assert/strict';
import { SourceError } from '@vision/streams/source-error';
import { readDescription } from '../../../services/inference/src/inputs/rtsp/sdp.ts';
import { createRtpVideo } from '../../../services/inference/src/inputs/rtsp/rtp-video.ts';
import { attempt, totalBytes } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

/** Session descriptions: what is read of one lies within what RTP can mean, and packets can be read by it. */
export const target: FuzzTarget = {
  maxBytes: 8192,
  bulk: { kind: 'message', mostMs: 500, open: () => readDescription },
  check: (input) => {
    const refusal = { by: SourceError, reasons: ['unreadable', 'no_video_track', 'codec_unsupported'] };
    const outcome = attempt(() => readDescription(input), refusal);
    if ('refused' in outcome) return;
    const { codec, payloadType, clockRate, parameterSets, trackControl, streamControl } = outcome.read;
    assert.ok(['h264', 'h265', 'mjpeg'].includes(codec));
    assert.ok(Number.isInteger(payloadType) && payloadType >= 0 && payloadType <= 127, `payload type ${payloadType}`);
    assert.ok(Number.isInteger(clockRate) && clockRate >= 1);
    assert.ok(totalBytes(parameterSets) <= input.length);
    assert.doesNotMatch(`${trackControl}${streamControl}`, /[\x00-\x1f\x7f]/);
    const ways = { by: SourceError, reasons: ['unreadable'] };
    attempt(() => createRtpVideo(outcome.read), ways);
  },
};
