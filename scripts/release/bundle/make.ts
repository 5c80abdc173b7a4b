import { writeFileSync } from 'node:fs';
import { arch } from 'node:os';
import { join } from 'node:path';
import { root, say } from '../../../deploy/local/settings.ts';
import { modifiedFiles } from '../repository.ts';
import { buildVersion } from '../version.ts';
import { writeChart } from './chart.ts';
import { beginFolder, finishFolder } from './folder.ts';
import { writeImages } from './images.ts';
import { checksums, digestsOf, provenance } from './provenance.ts';
import { sign, VERIFY } from './sign.ts';

interface Options {
  /** File of the minisign key; unsigned without one. */
  key: string | undefined;
  withoutImages: boolean;
  /** Folder in which the directory is made. */
  parent: string;
}

/** Architectures of nodes, as images name them. Images are built for that of this machine only. */
const architectures: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };

/** Makes the directory of a release. Returns its path. @throws Error when the files are not those of a commit. */
export async function makeRelease({ key, withoutImages, parent }: Options): Promise<string> {
  const changed = modifiedFiles(root);
  if (changed.length > 0) throw new Error(`A release is made of a commit. Commit or remove: ${changed.join(', ')}`);
  const build = buildVersion(root);
  if (build.isRelease && (key === undefined || withoutImages))
    throw new Error('A release has its images and a signature: set RELEASE_KEY to the file of the minisign key.');
  const folder = beginFolder(parent, build);
  const startedOn = new Date();
  const digests = withoutImages ? {} : await writeImages(folder, build);
  writeChart(folder, build.version, digests);
  writeFileSync(
    join(folder, 'LEFT_OUT'),
    leftOut(withoutImages)
      .map((line) => `${line}\n`)
      .join(''),
  );
  const made = await digestsOf(folder);
  const statement = provenance(made, { ...build, startedOn, finishedOn: new Date() });
  writeFileSync(join(folder, 'provenance.intoto.json'), `${JSON.stringify(statement, null, 2)}\n`);
  writeFileSync(join(folder, 'verify.sh'), VERIFY);
  writeFileSync(join(folder, 'SHA256SUMS'), checksums(await digestsOf(folder)));
  if (key === undefined) say('release', 'not signed: RELEASE_KEY names no key');
  else sign(folder, key, build.version);
  const finished = finishFolder(folder, parent, build);
  say('release', `${finished.slice(root.length + 1)}: ${made.size} files`);
  return finished;
}

/** What a reader could expect in the directory and does not find there. */
function leftOut(withoutImages: boolean): string[] {
  if (withoutImages) return ['images and their bills of materials'];
  const others = Object.entries(architectures).filter(([machine]) => machine !== arch());
  return others.map(
    ([, name]) => `images for linux/${name}: built on a machine of that architecture only, and not run`,
  );
}
