import { expect, test } from '@jest/globals';
import { fingerprintOf } from './fingerprint.ts';

const a = { sha256: 'a'.repeat(64), bytes: 1 };
const b = { sha256: 'b'.repeat(64), bytes: 2 };

test('the scene, the images and their order decide the fingerprint', () => {
  const all = [
    fingerprintOf({ sceneCode: 'ship', images: [a, b] }, {}),
    fingerprintOf({ sceneCode: 'ship', images: [b, a] }, {}),
    fingerprintOf({ sceneCode: 'ship', images: [a] }, {}),
    fingerprintOf({ sceneCode: 'ship', images: [a, a] }, {}),
    fingerprintOf({ sceneCode: 'fishing', images: [a, b] }, {}),
    fingerprintOf({ sceneCode: 'ship', images: [a, b] }, { client_ref: 'gate-3' }),
    fingerprintOf({ sceneCode: 'ship', images: [a, b] }, { client_ref: 'gate-4' }),
  ];
  expect(new Set(all).size).toBe(all.length);
  expect(fingerprintOf({ sceneCode: 'ship', images: [{ ...a }, { ...b }] }, {})).toBe(all[0]);
});

test('the same request keeps the fingerprint that is stored for it', () => {
  expect(fingerprintOf({ sceneCode: 'ship', images: [a] }, {})).toBe(
    '2ee666bb7bafdef460569bcbe0119f8557c9d7f04ceb051a132266b5df282989',
  );
});
