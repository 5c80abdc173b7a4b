/** The operator's switch that refuses new work. */
export interface Maintenance {
  enabled: boolean;
  /** For operators; empty while it is off. */
  reason: string;
}
