const BYTES = 32;

/**
 * A secret in the form of Standard Webhooks. The page makes it and not the service: a request that holds it can be
 * repeated after a lost answer, and the page knows which secret is in force.
 */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}
