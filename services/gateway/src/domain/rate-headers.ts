/** One limit in the RateLimit headers. */
export interface Policy {
  name: string;
  quota: number;
  /** Seconds until `quota` is refilled; absent for limits of concurrency. */
  windowS?: number | undefined;
  unit?: 'concurrent-requests' | undefined;
}

/** Usage of one policy by a caller. */
export interface Standing {
  name: string;
  remaining: number;
  /** Seconds until more is available. */
  resetS?: number | undefined;
}

/** `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-11: a list of structured-field items. */
export function policyHeader(policies: Policy[]): string {
  return policies
    .map(({ name, quota, windowS, unit }) => `"${name}";q=${quota}${parameter('w', windowS)}${text('qu', unit)}`)
    .join(', ');
}

/** `RateLimit` of the same draft. */
export function standingHeader(standings: Standing[]): string {
  return standings
    .map(({ name, remaining, resetS }) => `"${name}";r=${Math.max(0, remaining)}${parameter('t', resetS)}`)
    .join(', ');
}

const parameter = (name: string, value: number | undefined) => (value === undefined ? '' : `;${name}=${value}`);
const text = (name: string, value: string | undefined) => (value === undefined ? '' : `;${name}="${value}"`);
