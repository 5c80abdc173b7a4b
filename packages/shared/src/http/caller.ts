import type { SubjectLimits } from '@vision/contracts/limits';
import type { SnapshotMode } from '@vision/contracts/create-query';
import type { KeyScope } from '@vision/contracts/scopes';

/** The caller, authenticated by the token of the previous hop. */
export interface Caller {
  subject: string;
  /** Service that made the call. */
  issuer: string;
  limits?: SubjectLimits | undefined;
  /** Public id of the API key. */
  keyId?: string | undefined;
  /** Scopes of the API key; absent: all. */
  scopes?: readonly KeyScope[] | undefined;
  /** Setting of the subject for new video tasks; absent: off. */
  snapshots?: SnapshotMode | undefined;
  /** Set while an operator refuses new work. */
  maintenance?: { reason: string } | undefined;
}
