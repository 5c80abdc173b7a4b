/** What was asked, and how its trace is found: by the id in the answer, or by what the client called its request. */
export interface Asked {
  traceId?: string | undefined;
  requestId?: string | undefined;
  /** What the client saw. */
  seen: string;
}
