import { existsSync, readFileSync } from 'node:fs';

/**
 * The commit that an image was built from, which the build writes beside the packages: its first twelve digits, and
 * `-modified` where the files differed from it. `none` in a checkout.
 */
export function builtCommit(file: URL): string {
  if (!existsSync(file)) return 'none';
  return readFileSync(file, 'utf8')
    .trim()
    .replace(/^([0-9a-f]{12})[0-9a-f]*/, '$1');
}
