/** One act of an operator. `pending` stays when the process died before the outcome was known. */
export interface AuditEntry {
  id: number;
  at: Date;
  actor: string;
  action: string;
  target: string;
  details: Record<string, unknown>;
  result: string;
}

export type Act = Pick<AuditEntry, 'actor' | 'action' | 'target' | 'details'>;

/** Subject of service tokens for requests without a subject. */
export const OPERATOR = 'operator';
