/** One parser of ours and what has to hold for it, whatever bytes it is given. */
export interface FuzzTarget {
  /** Longest input that is tried. */
  maxBytes: number;
  /** Milliseconds that an input may take when nothing else disturbs; 50 when left out. */
  slowMs?: number;
  /** @throws when something does not hold that has to; a refusal that the parser declares is none. */
  check: (input: Buffer) => void | Promise<void>;
}
