import { streamProbeProblems } from '@vision/contracts/inference';
import type { SourceReason } from './source-error.ts';

export type ProbeProblem = (typeof streamProbeProblems)[number];

/**
 * Why a probe gave no frame, in the words of its answer. What only the network shows is `no_frame`, whatever it is: a
 * playlist can name any host that the operator allows.
 */
export const probeProblemOf = (reason: SourceReason): ProbeProblem =>
  streamProbeProblems.find((problem) => problem === reason) ?? 'no_frame';
