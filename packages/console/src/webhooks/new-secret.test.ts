import { expect, test } from '@jest/globals';
import { newSecret } from './new-secret.ts';

test('a secret is 32 random bytes in base64, and never the same twice', () => {
  const secrets = Array.from({ length: 50 }, newSecret);
  for (const secret of secrets) {
    // The form that the service accepts; 43 characters and padding hold exactly 32 bytes.
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(atob(secret.slice(6))).toHaveLength(32);
  }
  expect(new Set(secrets).size).toBe(secrets.length);
});
