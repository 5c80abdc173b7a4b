import { asAppError } from '@vision/contracts/errors';
import { SourceError, sourceReasonOf } from '@vision/streams/source-error';
import { isFatal } from '../domain/source-failure.ts';
import type { SourceReason } from '@vision/streams/source-error';
import type { LiveReader } from '../readers/live-reader.ts';
import { startDecoder } from './decoder.ts';
import type { DecodedFrame, Decoder, DecoderListener } from './decoder.ts';
import type { DecodedSnapshot } from './read-snapshots.ts';
import { liveArguments } from './ffmpeg-arguments.ts';
import type { LiveSampling } from './ffmpeg-arguments.ts';
import { watchQuiet } from './quiet-time.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

/** A decoder that takes a quarter of a core all the time is replaced after four days. */
const CPU_SECONDS = 24 * 3600;

export interface ConnectionSettings {
  sampling: LiveSampling;
  /** A connection without a frame for this long is closed and replaced. */
  noFrameMs: number;
  killGraceMs: number;
}

export interface ConnectionUse {
  sandbox: Sandbox;
  onFrame: (frame: DecodedFrame) => void;
  /** Receives frames in the size of snapshots, when the sampling includes them. */
  onSnapshot?: (snapshot: DecodedSnapshot) => void;
  decoderListener?: DecoderListener | undefined;
  signal: AbortSignal;
}

/**
 * Reads one connection to a live source from open to end.
 *
 * @returns why it ended; undefined when the stream was complete or the signal aborted
 */
export async function readConnection(
  open: () => Promise<LiveReader>,
  settings: ConnectionSettings,
  use: ConnectionUse,
): Promise<SourceReason | undefined> {
  let input: LiveReader | undefined;
  try {
    input = await open();
    const { snapshots } = settings.sampling;
    const decoder = startDecoder(liveArguments(input.format, settings.sampling), {
      sandbox: use.sandbox,
      input: input.video,
      isSizeFixed: false,
      killGraceMs: settings.killGraceMs,
      cpuSeconds: CPU_SECONDS,
      listener: use.decoderListener,
      snapshots: snapshots && use.onSnapshot && { maxSide: snapshots.maxSide, onSnapshot: use.onSnapshot },
    });
    // Only the reader and ffmpeg hold it now, so each of them notices when the other one ends.
    input.video.destroy();
    const groups = [input.processGroup, decoder.processGroup];
    use.decoderListener?.started(groups.filter((group) => group !== undefined));
    return await decode(input, decoder, settings.noFrameMs, use);
  } catch (error) {
    if (error instanceof SourceError) return error.reason;
    // A failed start of a decoder is no fault of the source.
    if (asAppError(error)?.reason === 'decoder_not_started') return 'decoder_failed';
    await input?.close();
    return weightiest([input?.failure(), sourceReasonOf(error)]);
  } finally {
    await input?.close();
  }
}

async function decode(
  input: LiveReader,
  decoder: Decoder,
  noFrameMs: number,
  { onFrame, signal }: ConnectionUse,
): Promise<SourceReason | undefined> {
  const stop = () => {
    void input.close();
    void decoder.stop();
  };
  const silence = watchQuiet(noFrameMs, stop);
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) return undefined;
    input.play();
    for await (const frame of decoder.frames()) {
      silence.heard();
      onFrame(frame);
    }
    if (silence.isOver()) return 'timeout';
    const reason = await decoder.outcome;
    // It has no end that its time could be in proportion to, so another decoder goes on.
    if (reason === 'decode_time_exceeded') return 'decoder_failed';
    await input.close();
    // The last output of a crashed reader is no valid stream, so its error is no fault of the source.
    if (input.isLost()) return 'decoder_failed';
    return input.isFinished() && reason === undefined ? undefined : weightiest([input.failure(), reason]);
  } finally {
    silence.stop();
    signal.removeEventListener('abort', stop);
    await decoder.stop();
  }
}

/**
 * Each side also reports that the other one ended, so the most specific reason is chosen: our own timeout, a source
 * that closed before its first frame (which ffmpeg calls unreadable), a final reason, otherwise the first one.
 */
function weightiest(reasons: (SourceReason | undefined)[]): SourceReason {
  const known = reasons.filter((reason) => reason !== undefined);
  if (known.includes('timeout')) return 'timeout';
  if (known.includes('stream_ended')) return 'stream_ended';
  return known.find((reason) => isFatal(reason, false)) ?? known[0] ?? 'stream_ended';
}
