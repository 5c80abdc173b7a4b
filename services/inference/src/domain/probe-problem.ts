import { streamProbeProblems } from '@vision/contracts/inference';
import type { SourceReason } from '@vision/streams/source-error';

export type ProbeProblem = (typeof streamProbeProblems)[number];

/**
 * The problem of a probe without a frame, as its answer names it. Every failure of the network is `no_frame`: a
 * playlist can name any host that the operator allows.
 */
export const probeProblemOf = (reason: SourceReason): ProbeProblem =>
  streamProbeProblems.find((problem) => problem === reason) ?? 'no_frame';
