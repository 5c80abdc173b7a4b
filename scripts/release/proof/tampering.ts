import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../../deploy/chart/tools.ts';
import { checksums, digestsOf } from '../bundle/provenance.ts';
import { makeKeys, sign } from '../bundle/sign.ts';

/** What `sh verify.sh` of a release says: whether the files are those that the holder of the key signed. */
export function isVerified(folder: string, publicKey: string): boolean {
  return spawnSync('sh', ['verify.sh', publicKey], { cwd: folder, stdio: 'ignore' }).status === 0;
}

/** A change of a copy of the release that has to be refused. */
interface Tampering {
  what: string;
  change: (copy: string) => void | Promise<void>;
}

/**
 * Changes copies of a release, one at a time. Returns the changes that `verify.sh` refused, and those that it took
 * though it must not.
 */
export async function tamper(folder: string, scratch: string, publicKey: string) {
  const refused: string[] = [];
  const taken: string[] = [];
  const copy = join(scratch, 'copy');
  for (const { what, change } of tamperings(folder, scratch)) {
    rmSync(copy, { recursive: true, force: true });
    // Links, as images are large: a change replaces the link by a file of its own.
    run('cp', ['-al', folder, copy]);
    await change(copy);
    (isVerified(copy, publicKey) ? taken : refused).push(what);
  }
  rmSync(copy, { recursive: true, force: true });
  return { refused, taken };
}

function tamperings(folder: string, scratch: string): Tampering[] {
  const first = (pattern: string) => globSync(pattern, { cwd: folder }).toSorted().slice(0, 1);
  const kinds = ['images/*.tar', 'sbom/*.json', 'chart/*.tgz', 'provenance.intoto.json', 'SHA256SUMS'];
  const chart = first('chart/*.tgz')[0] ?? '';
  return [
    ...kinds.flatMap(first).map((path) => ({
      what: `one changed byte in ${path}`,
      change: (copy: string) => changeByte(join(copy, path)),
    })),
    { what: 'the chart removed', change: (copy) => rmSync(join(copy, chart)) },
    { what: 'a changed version in the signature', change: (copy) => changeComment(join(copy, 'SHA256SUMS.minisig')) },
    {
      what: 'a changed chart with new checksums',
      change: async (copy) => {
        changeByte(join(copy, chart));
        await rewriteChecksums(copy);
      },
    },
    {
      what: 'a changed chart with new checksums, signed by another key',
      change: async (copy) => {
        changeByte(join(copy, chart));
        await rewriteChecksums(copy);
        const key = join(scratch, 'another.key');
        makeKeys(key, join(scratch, 'another.pub'));
        rmSync(join(copy, 'SHA256SUMS.minisig'));
        sign(copy, key, 'another');
      },
    },
  ];
}

/** A file of its own in place of the link. */
function replace(file: string, content: string | Buffer): void {
  rmSync(file);
  writeFileSync(file, content);
}

function changeByte(file: string): void {
  const bytes = readFileSync(file);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  replace(file, bytes);
}

const changeComment = (file: string) =>
  replace(file, readFileSync(file, 'utf8').replace(/^(trusted comment: vision ).*$/m, '$19.9.9'));

async function rewriteChecksums(copy: string): Promise<void> {
  const listed: string[] = readFileSync(join(copy, 'SHA256SUMS'), 'utf8').match(/(?<= {2}).+$/gm) ?? [];
  const digests = await digestsOf(copy);
  replace(join(copy, 'SHA256SUMS'), checksums(new Map([...digests].filter(([path]) => listed.includes(path)))));
}
