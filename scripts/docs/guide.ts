import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The part of the guide that a marker `<!-- generated: <name> <arguments> -->` stands for. */
export type Generators = Record<string, (...args: string[]) => string>;

const GENERATED = /^( *)<!-- generated: ([^>]+) -->$/gm;
/** Names the test that executes the fence behind it. */
const EXECUTED = /^ *<!-- executed: (\S+) "([^"]+)" -->\n+/gm;
const FENCE = /^( *)```(\w*)\n([\s\S]*?)\n\1```$/gm;

interface Fence {
  language: string;
  text: string;
}

interface ExecutedFence extends Fence {
  /** The test file, and the name of the test in it. */
  file: string;
  test: string;
}

/** The fences of a text, in their order, without the indentation of a list. */
export function fencesOf(text: string): Fence[] {
  return [...text.matchAll(FENCE)].map(([, indentation = '', language = '', body = '']) => ({
    language,
    text: body.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
  }));
}

/** The fences of the source that tests execute. */
export function executedFences(source: string): ExecutedFence[] {
  return [...source.matchAll(EXECUTED)].flatMap(([marker, file = '', test = ''], index) => {
    const from = [...source.matchAll(EXECUTED)][index]?.index ?? 0;
    const [fence] = fencesOf(source.slice(from + marker.length));
    return fence ? [{ ...fence, file, test }] : [];
  });
}

/** The guide as callers read it: generated parts filled in, markers removed. */
export function expandGuide(source: string, generators: Generators): string {
  return source
    .replaceAll(GENERATED, (_marker, indentation: string, call: string) => {
      const [name = '', ...args] = call.split(' ');
      const generate = generators[name];
      if (!generate) throw new Error(`the guide asks for "${name}", which nothing generates`);
      return generate(...args).replaceAll(/^(?=.)/gm, indentation);
    })
    .replaceAll(EXECUTED, '');
}

/** Fences and tables of the source that are neither generated nor executed, and markers that name nothing. */
export function guideFaults(root: string, source: string, generators: Generators): string[] {
  const withoutFences = source.replaceAll(FENCE, '');
  return [
    ...unmarkedFences(source),
    ...[...withoutFences.matchAll(/^ *\|(.*)\n *\|[ :|-]+$/gm)].map(
      ([, head = '']) => `the table "${head.trim()}" is written by hand; generate it`,
    ),
    ...[...source.matchAll(GENERATED)]
      .map(([, , call = '']) => call.split(' ')[0] ?? '')
      .filter((name) => !(name in generators))
      .map((name) => `nothing generates "${name}"`),
    ...executedFences(source)
      .filter(({ file, test }) => !hasTest(join(root, file), test))
      .map(({ file, test }) => `${file} has no test "${test}"`),
  ];
}

function unmarkedFences(source: string): string[] {
  return [...source.matchAll(FENCE)]
    .filter(({ index }) => !/<!-- executed: \S+ "[^"]+" -->\n+$/.test(source.slice(0, index)))
    .map(([, , , body = '']) => `no test executes the fence "${(body.split('\n')[0] ?? '').trim()}"`);
}

const hasTest = (file: string, test: string) =>
  existsSync(file) && readFileSync(file, 'utf8').includes(`test('${test}'`);

/**
 * Reasons that the guide lists and no code gives; `code` holds the sources without the list itself. The compiler
 * refuses the opposite, a reason that the guide does not list.
 */
export function unusedReasons(listed: Record<string, object>, code: string, services: string[]): string[] {
  const made = new Set(services.map((name) => `${name}_unavailable`));
  return Object.values(listed)
    .flatMap((reasons) => Object.keys(reasons))
    .filter((reason) => !made.has(reason) && !code.includes(`'${reason}'`))
    .map((reason) => `no code answers with the reason ${reason}`);
}
