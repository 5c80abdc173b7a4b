import { expect, test } from '@jest/globals';
import { fingerprintOf } from './fingerprint.ts';

const a = { sha256: 'a'.repeat(64), bytes: 1 };
const b = { sha256: 'b'.repeat(64), bytes: 2 };

test('scene, pictures and their order make the meaning', () => {
  const all = [
    fingerprintOf('ship', [a, b]),
    fingerprintOf('ship', [b, a]),
    fingerprintOf('ship', [a]),
    fingerprintOf('ship', [a, a]),
    fingerprintOf('fishing', [a, b]),
  ];
  expect(new Set(all).size).toBe(all.length);
  expect(fingerprintOf('ship', [{ ...a }, { ...b }])).toBe(all[0]);
});

test('a fingerprint that is stored stays what it is', () => {
  expect(fingerprintOf('ship', [a])).toBe('2ee666bb7bafdef460569bcbe0119f8557c9d7f04ceb051a132266b5df282989');
});
