import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Written after the provenance, so they cannot be its subjects; the checksums name them. */
const AFTER = ['provenance.intoto.json', 'verify.sh'];

interface Statement {
  subject: { name: string; digest: { sha256: string } }[];
  predicate: { buildDefinition: { resolvedDependencies: { digest: { gitCommit: string } }[] } };
}

/** Differences between what the provenance of a release says and its signed checksums; none when they agree. */
export function provenanceProblems(folder: string, commit: string): string[] {
  const { subject, predicate } = JSON.parse(readFileSync(join(folder, 'provenance.intoto.json'), 'utf8')) as Statement;
  const named = predicate.buildDefinition.resolvedDependencies.map(({ digest }) => digest.gitCommit);
  const subjects = new Map(subject.map(({ name, digest }) => [name, digest.sha256]));
  const lines = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').split('\n').filter(Boolean);
  const signed = new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
  const without = [...signed].filter(([path, sha256]) => !AFTER.includes(path) && subjects.get(path) !== sha256);
  const unsigned = [...subjects.keys()].filter((path) => !signed.has(path));
  return [
    ...(named.join() === commit ? [] : [`the provenance names commit ${named.join()}, not ${commit}`]),
    ...without.map(([path]) => `the provenance does not name ${path} with its digest`),
    ...unsigned.map((path) => `the provenance names ${path}, which is not signed`),
  ];
}
