import { basename, extname } from 'node:path';

/** Endings of files that no program reads: types, sources, maps, notes of build tools. Licences stay. */
const UNREAD = ['.ts', '.mts', '.cts', '.map', '.flow', '.md', '.markdown', '.tsbuildinfo', '.pdb'];

/** Folders of a package that are not part of what it exports. */
const ASIDE = ['test', 'tests', '__tests__', 'build/test', 'example', 'examples', 'benchmark', 'benchmarks', '.github'];

/**
 * Whether a file or folder of a package belongs into an image; `path` is relative to the package's folder, with
 * slashes, and is asked for folders before what is in them.
 */
export function belongs(packageName: string, path: string, isDirectory: boolean): boolean {
  if (packageName.startsWith('@types/')) return false;
  if (isDirectory) return !ASIDE.includes(path) && isForThisMachine(packageName, path) && isLoaded(packageName, path);
  return (
    basename(path).startsWith('LICEN') || !(UNREAD.includes(extname(path)) || /\.(test|spec)\.[cm]?js$/.test(path))
  );
}

/** onnxruntime-node carries its library for every system: bin/napi-v6/linux/x64 and others. */
function isForThisMachine(packageName: string, path: string): boolean {
  if (packageName !== 'onnxruntime-node') return true;
  const [, , platform = process.platform, arch = process.arch] = path.split('/');
  return !path.startsWith('bin/') || (platform === process.platform && arch === process.arch);
}

/** These carry themselves two or three times; Node.js loads what `main` names, and the others are for bundlers. */
function isLoaded(packageName: string, path: string): boolean {
  if (packageName.startsWith('@smithy/')) return path !== 'dist-es' && path !== 'dist-types';
  return !packageName.startsWith('@opentelemetry/') || !['build/esnext', 'build/esm'].includes(path);
}
