/** The numbers that the service takes. */
export interface Bounds {
  least: number;
  most: number;
  /** Whether parts of one are refused. */
  isWhole?: boolean;
}

/** False for what is no number as well. */
export const isWithin = (value: number, { least, most, isWhole = false }: Bounds): boolean =>
  value >= least && value <= most && (!isWhole || Number.isInteger(value));
