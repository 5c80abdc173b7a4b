import { expect, test } from '@jest/globals';
import { belongs } from './prune.ts';

test('types, sources, maps and tests of a package stay out of images, its programs and licence do not', () => {
  const files = ['index.js', 'index.mjs', 'index.d.ts', 'index.ts', 'index.js.map', 'README.md', 'LICENSE.md'];
  expect(files.filter((file) => belongs('some-package', file, false))).toEqual(['index.js', 'index.mjs', 'LICENSE.md']);
  expect(belongs('some-package', 'lib/parser.test.js', false)).toBe(false);
  const folders = ['lib', 'src', 'test', 'lib/test', 'examples', 'build/test'];
  expect(folders.filter((folder) => belongs('some-package', folder, true))).toEqual(['lib', 'src', 'lib/test']);
});

test('of the libraries of onnxruntime only those of this machine are in an image', () => {
  const own = `bin/napi-v6/${process.platform}/${process.arch}`;
  const folders = ['bin', 'bin/napi-v6', `bin/napi-v6/${process.platform}`, own, 'bin/napi-v6/win32/riscv', 'dist'];
  expect(folders.filter((folder) => belongs('onnxruntime-node', folder, true))).toEqual([
    'bin',
    'bin/napi-v6',
    `bin/napi-v6/${process.platform}`,
    own,
    'dist',
  ]);
});
