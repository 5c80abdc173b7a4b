import type { JobSource } from '@vision/contracts/inference';
import { asAppError } from '@vision/contracts/errors';
import { probeFile } from '../decoding/probe-file.ts';
import { shortageOf } from '../domain/shortage.ts';
import { SourceError } from '@vision/streams/source-error';
import type { Deps } from './deps.ts';

type SourceRefusal =
  /** For good. */
  | { kind: 'rejected'; reason: string }
  /** For now. */
  | { kind: 'no_capacity'; reason: string };

/** Why a source is refused, if it is, and the processor time that the look at it took at most, milliseconds. */
interface Look {
  refusal?: SourceRefusal;
  processorMs: number;
}

type Spent = Pick<Look, 'processorMs'>;

type LookDeps = Pick<Deps, 'addresses' | 'files' | 'sandbox' | 'settings' | 'signals'>;

/** What can be told of a source within the time of an answer; the rest shows when the job runs. */
export async function lookAtSource(deps: LookDeps, source: JobSource): Promise<Look> {
  const spent = { processorMs: 0 };
  const refusal = await refusalOf(deps, source, spent);
  return refusal ? { refusal, ...spent } : spent;
}

async function refusalOf(deps: LookDeps, source: JobSource, spent: Spent): Promise<SourceRefusal | undefined> {
  try {
    if (source.kind === 'stream') deps.addresses.parse(source.url);
    else if (source.bucket !== deps.settings.bucket) return { kind: 'rejected', reason: 'bucket_unknown' };
    else await lookAtFile(deps, source.key, spent);
    return undefined;
  } catch (error) {
    if (error instanceof SourceError) return { kind: 'rejected', reason: error.reason };
    const known = asAppError(error);
    const shortage = shortageOf(error);
    if (shortage) deps.signals.submitShort(shortage);
    if (known?.kind === 'unavailable') return { kind: 'no_capacity', reason: known.reason };
    throw error;
  }
}

/** @throws SourceError when the file surely is no video; AppError of kind `unavailable` when it cannot be read now. */
async function lookAtFile(
  { files, sandbox, settings: { fileLookMs }, signals }: LookDeps,
  key: string,
  spent: Spent,
): Promise<void> {
  const until = performance.now() + fileLookMs;
  const deadline = AbortSignal.timeout(fileLookMs);
  try {
    const file = await files.open(key, deadline);
    try {
      const timeoutMs = Math.max(1, Math.round(until - performance.now()));
      const startedAt = performance.now();
      const probe = await probeFile(file.path, { timeoutMs, sandbox });
      // The program that looks has one thread, so it takes no more processor time than time.
      spent.processorMs = Math.round(performance.now() - startedAt);
      if (!probe.isReadable && probe.reason !== 'timeout') {
        signals.videoRefused(probe.reason, probe.detail);
        throw new SourceError(probe.reason);
      }
    } finally {
      file.release();
    }
  } catch (error) {
    // Time is up before anything was seen; the job will show it.
    if (!deadline.aborted || error instanceof SourceError) throw error;
  }
}
