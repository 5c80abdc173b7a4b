import { measurementOf } from './measurements.ts';
import { currentCommit } from './repository.ts';

/** Which code a measurement is of. */
export interface RunRecord {
  command: string;
  /** 40 hexadecimal digits; `-modified` follows when the files differed from the commit. */
  commit: string;
  /** `2026-11-23` */
  day: string;
  files: readonly string[];
}

/** The record of a run of `make <command>` that ends now in the repository at `root`. */
export function recordOf(command: string, root: string): RunRecord {
  const { files } = measurementOf(command);
  return { command, files, commit: currentCommit(root), day: new Date().toISOString().slice(0, 10) };
}

/** The sentence by which a page names the code that it measured; `recordsIn` reads it back. */
export function recordText({ command, commit, day, files }: RunRecord): string {
  const list = files.map((file) => `\`${file}\``).join(', ');
  return `Recorded by \`make ${command}\` at commit \`${commit}\` on ${day}; it measures ${list}.`;
}

/** All records of a page, however its lines are broken. */
export function recordsIn(text: string): RunRecord[] {
  const sentence =
    /Recorded by `make ([^`]+)` at commit `([0-9a-f]{40}(?:-modified)?|unknown)` on (\d{4}-\d{2}-\d{2}); it measures ((?:`[^`]+`(?:, )?)+)\./g;
  return [...text.replaceAll(/\s+/g, ' ').matchAll(sentence)].map(
    ([, command = '', commit = '', day = '', list = '']) => ({
      command,
      commit,
      day,
      files: [...list.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file),
    }),
  );
}
