/** One parser of ours and what has to hold for it, whatever bytes it is given. */
export interface FuzzTarget {
  /** Longest input that is tried. */
  maxBytes: number;
  /** Milliseconds that an input may take when nothing else disturbs; 50 when left out. */
  slowMs?: number;
  /** How the parser is given megabytes made of an input. */
  bulk?: Bulk;
  /** @throws when something does not hold that has to; a refusal that the parser declares is none. */
  check: (input: Buffer) => void | Promise<void>;
}

/** What megabytes from a hostile sender may cost a parser. */
export interface Bulk {
  /** `stream`: the input again and again, in pieces; `message`: the input with its end repeated, as one message. */
  kind: 'stream' | 'message';
  /** Longest message that the caller of the parser takes, in bytes; 8 MiB when left out. */
  mostBytes?: number;
  /** Milliseconds of processor time for each MiB, ten times what was measured. */
  mostMs: number;
  /**
   * @param stop is aborted behind the last piece
   * @returns what reads the pieces, each of which begins with the input; it may return a promise, and throws to stop
   */
  open: (stop: AbortSignal) => (piece: Buffer, inputBytes: number) => unknown;
}
