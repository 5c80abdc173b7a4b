import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles } from '../project-files.ts';

interface Phrase {
  old: RegExp;
  write: string;
  /** Documents in which the phrase has another meaning. */
  except?: RegExp;
}

/** Phrases that this project used, each with the standard term. */
const phrases: readonly Phrase[] = [
  // `visionctl calibrate` takes labelled photographs as `--pictures`.
  { old: /\bpictures?\b/, write: 'image', except: /^docs\/accuracy\.md$/ },
  { old: /\bsigns? of life\b/, write: 'heartbeat' },
  { old: /\bhead starts?\b/, write: 'speculative execution' },
  { old: /\bend marks?\b/, write: 'end-of-stream marker' },
  { old: /\b(young|old) frames?\b/, write: 'hot or cold frames' },
  { old: /\b(giv(e|es|en|ing)|gave|tak(e|es|en|ing)|took) back\b/, write: 'roll back; units are refunded' },
  { old: /\bundo(es|ne|ing)?\b/, write: 'roll back' },
  { old: /\bput(s|ting)? (a |its |their |the )?(jobs? )?down\b/, write: 'yield a job' },
  { old: /\bhand(s|ed|ing)? over\b/, write: 'submit' },
  { old: /\bmend(s|ed|ing)?\b/, write: 'fix' },
  { old: /\b(is|are|was|were) away\b/, write: 'is unavailable' },
  { old: /\b(task|job|lease|call|stream)s? (is|are|was|were) over\b/, write: 'has ended, has expired' },
  { old: /\bstreams? (that )?(is|are) behind\b/, write: 'below its frame rate' },
  { old: /\b(is|are|was|were) looked (at|for)\b/, write: 'is polled, probed, queried' },
  { old: /\b(take|takes|taking) turns\b/, write: 'fair queueing' },
  { old: /\bbells?\b/, write: 'wake-up' },
  { old: /\bwalls?\b(?! clock)/, write: 'sandbox' },
  { old: /\beight bits\b/, write: 'int8' },
  { old: /\bwords of (a|the) scene\b/, write: 'labels' },
  { old: /\bwhat became of\b/, write: 'outcome of' },
  { old: /\bnobody\b/, write: 'no client, no process' },
  { old: /\bwhoever\b/, write: 'a client that, the caller' },
  { old: /\bwhatever\b/, write: 'any, every, also when' },
  { old: /\bwherever\b/, write: 'everywhere that, each place' },
  { old: /\b(is|are|was|were) told\b/, write: 'receives, is reported' },
  { old: /\btells? of\b/, write: 'reports' },
  { old: /\bput aside\b/, write: 'became a dead letter' },
  { old: /\bdid not tell\b/, write: 'did not answer' },
  { old: /\b(kept|keeps?) (new work )?out\b/, write: 'refused' },
  { old: /\bover its time\b/, write: 'expired' },
  { old: /\b(by and by|of before)\b/, write: 'later; previous' },
  { old: /\b(some|any)body\b/, write: 'a client, a process' },
  { old: /\b(thereby|therein|hitherto)\b/, write: 'by it, in it, until now' },
  { old: /\bas a whole\b/, write: 'entirely, the whole call' },
  { old: /\bfor ever\b/, write: 'indefinitely' },
  { old: /\bdeliberate (faults?|mends?)\b/, write: 'mutation tests' },
  { old: /\b(a|each|every|dead|refused|such) creates?\b(?! requests?\b)/, write: 'create request' },
  { old: /\bcreates (that|of|get|wait|which)\b/, write: 'create requests' },
  { old: /\b(free|some|need) places?\b/, write: 'slot, capacity' },
  { old: /\bin vain\b/, write: 'wasted' },
];

/** The training notes use `picture` and `wall` in their literal sense. */
const EXEMPT = /^services\/inference\/tools\//;

const DOCUMENTS = ['**/*.md', 'docs/openapi/*.json', 'Makefile', '{packages,services}/*/src/**/*.ts'];

/**
 * Uses of old phrases in documents, log messages and the help of `make`, each with the term to write instead.
 */
export function oldPhrases(root: string): string[] {
  return DOCUMENTS.flatMap((pattern) => projectFiles(root, pattern))
    .filter((path) => !EXEMPT.test(path))
    .flatMap((path) => oldPhrasesIn(readFileSync(join(root, path), 'utf8'), path));
}

/** The same for one text; its path decides which parts are prose. */
export function oldPhrasesIn(text: string, path: string): string[] {
  const prose = proseIn(text, path);
  const refused = phrases.filter(({ except }) => !except?.test(path));
  return refused.flatMap(({ old, write }) =>
    [...prose.matchAll(new RegExp(old, 'gi'))].map(([found]) => `${path}: "${found}": write "${write}"`),
  );
}

function proseIn(text: string, path: string): string {
  if (path.endsWith('.json')) return descriptionsOf(text);
  if (path.endsWith('.ts')) return logMessagesOf(text);
  if (path === 'CHANGELOG.md') return proseOf(unreleasedOf(text));
  return path.endsWith('Makefile') ? helpOf(text) : proseOf(text);
}

/** Removes code and quotations: names on a wire, messages and crash points (`tasks.undo.refunded`) stay. */
const proseOf = (text: string) =>
  text
    .replaceAll(/^```[\s\S]*?^```/gm, ' ')
    .replaceAll(/`[^`]*`/g, ' ')
    .replaceAll(/"[^"\n]*(\n[^"\n]+)?"/g, ' ')
    .replaceAll(/\]\([^)]*\)/g, '] ')
    .replaceAll(/\b[a-z-]+(?:\.[a-z-]+){2}\b/g, ' ')
    .replaceAll(/\s+/g, ' ');

/** Entries of releases keep their wording. */
const unreleasedOf = (text: string) => /^## Unreleased$[\s\S]*?(?=^## |$(?![\s\S]))/m.exec(text)?.[0] ?? '';

const descriptionsOf = (text: string) =>
  [...text.matchAll(/"(?:description|summary)": ("(?:[^"\\]|\\.)*")/g)]
    .map(([, quoted = '""']) => proseOf(JSON.parse(quoted) as string))
    .join(' ');

const logMessagesOf = (text: string) =>
  [...text.matchAll(/\blogger\.(?:debug|info|warn|error|fatal)\([^;]*?'((?:[^'\\]|\\.)*)',?\s*\)/g)]
    .map(([, message = '']) => message)
    .join('\n');

/** Without the names of variables. */
const helpOf = (text: string) =>
  [...text.matchAll(/## (.*)$/gm)].map(([, help = '']) => help.replaceAll(/\b[A-Z_]+=/g, '')).join('\n');
