/** One limit as the RateLimit headers name it. */
export interface Policy {
  name: string;
  quota: number;
  /** Seconds in which `quota` comes back; absent for limits on what runs at once. */
  windowS?: number | undefined;
  unit?: 'concurrent-requests' | undefined;
}

/** Where a caller stands against one policy. */
export interface Standing {
  name: string;
  remaining: number;
  /** Seconds until more is available. */
  resetS?: number | undefined;
}

/** `RateLimit-Policy` as draft-ietf-httpapi-ratelimit-headers-11 spells it: a list of structured-field items. */
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
