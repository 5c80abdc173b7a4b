import type { SubjectLimits } from '../contracts/limits.ts';

/** Who asks, as proven by the token of the previous hop. */
export interface Caller {
  subject: string;
  /** Service that made the call. */
  issuer: string;
  limits?: SubjectLimits | undefined;
  /** Set while an operator keeps new work out. */
  maintenance?: { reason: string } | undefined;
}
