import { globSync } from 'node:fs';

/** Packages, what runs and builds leave behind, and git's own files. */
const SKIPPED = /(^|\/)(node_modules|dist|coverage|\.git|\.local|examples\/out)$/;

/** Paths of the project's own files that match a glob pattern, sorted; also where there is no git. */
export const projectFiles = (root: string, pattern: string): string[] =>
  globSync(pattern, { cwd: root, exclude: (path) => SKIPPED.test(path) }).sort();
