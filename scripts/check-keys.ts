/**
 * A part of `npm run lint`. Fails for a key that occurs twice in one object of a JSON or YAML file, and for a target
 * that the Makefile defines twice. Programs use one of the two definitions and ignore the other silently.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { projectFiles } from './project-files.ts';

const root = join(import.meta.dirname, '..');
/** The templates of the chart are no YAML; their renders in charts/vision/golden are. */
const TEMPLATES = /^charts\/[^/]+\/templates\//;

const files = projectFiles(root, '**/{,.}*.{json,yaml,yml}').filter((path) => !TEMPLATES.test(path));
const findings = [...files.flatMap(doubledKeys), ...doubledTargets()];
for (const finding of findings) console.error(finding);
if (findings.length > 0) process.exitCode = 1;

/** JSON is parsed as YAML: `JSON.parse` accepts a doubled key. */
function doubledKeys(file: string): string[] {
  const documents = parseAllDocuments(readFileSync(join(root, file), 'utf8'), { prettyErrors: true });
  const errors = Array.isArray(documents) ? documents.flatMap((document) => document.errors) : [];
  return errors.map(({ message }) => `${file}: ${message}`);
}

/** Make warns of them and uses the last recipe. */
function doubledTargets(): string[] {
  const env = { ...process.env, LC_ALL: 'C', MAKEFLAGS: '', MAKELEVEL: '' };
  const { stderr, error } = spawnSync('make', ['--dry-run', 'help'], { cwd: root, encoding: 'utf8', env });
  if (error) return [`Makefile: not checked: ${error.message}`];
  return stderr.split('\n').filter(Boolean);
}
