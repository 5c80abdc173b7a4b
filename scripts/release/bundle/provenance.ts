import { createHash } from 'node:crypto';
import { createReadStream, globSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** SHA-256 of the files below a folder, by their paths in it. */
export async function digestsOf(folder: string): Promise<Map<string, string>> {
  const paths = globSync('**/*', { cwd: folder }).filter((path) => lstatSync(join(folder, path)).isFile());
  const digests = new Map<string, string>();
  for (const path of paths.toSorted()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(folder, path)), hash);
    digests.set(path, hash.digest('hex'));
  }
  return digests;
}

/** What `sha256sum --check` reads. */
export const checksums = (digests: Map<string, string>) =>
  [...digests].map(([path, digest]) => `${digest}  ${path}\n`).join('');

interface Build {
  version: string;
  commit: string;
  startedOn: Date;
  finishedOn: Date;
}

/** Where the files of a release come from: a statement of in-toto with the predicate of SLSA. */
export function provenance(digests: Map<string, string>, { version, commit, startedOn, finishedOn }: Build): object {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...digests].map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:vision:make-release:1',
        externalParameters: { command: 'make release', version },
        resolvedDependencies: [{ uri: `pkg:generic/vision@${version}`, digest: { gitCommit: commit } }],
      },
      runDetails: {
        // The signer of SHA256SUMS vouches for it; no build service does.
        builder: { id: 'urn:vision:make-release:holder-of-the-release-key' },
        metadata: { startedOn: startedOn.toISOString(), finishedOn: finishedOn.toISOString() },
      },
    },
  };
}
