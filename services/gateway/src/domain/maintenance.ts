/** The operator's switch that keeps new work out. */
export interface Maintenance {
  enabled: boolean;
  /** For operators; empty while it is off. */
  reason: string;
}
