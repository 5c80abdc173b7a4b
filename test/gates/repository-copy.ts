import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../../deploy/local/settings.ts';

/** Packages and output; each copy has its own folder of packages. */
const NOT_COPIED = /^(node_modules|dist|coverage|\.git|\.local)$/;

export interface Outcome {
  exitCode: number | null;
  output: string;
}

/** A copy of the working tree, or of a part of it, that a test can break. */
export class RepositoryCopy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'vision-gates-'));

  /** Copies these files and folders. */
  constructor(paths: readonly string[]) {
    for (const path of paths)
      cpSync(join(root, path), join(this.#folder, path), {
        recursive: true,
        filter: (source) => !NOT_COPIED.test(source.slice(dirname(source).length + 1)),
      });
    this.#linkPackages();
  }

  /** Every file of the root, without its folders: the configuration of the gates. */
  static ofRootFiles(...paths: string[]): RepositoryCopy {
    const files = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isFile());
    return new RepositoryCopy([...files.map(({ name }) => name), ...paths]);
  }

  static ofEverything(): RepositoryCopy {
    return new RepositoryCopy(readdirSync(root).filter((name) => !NOT_COPIED.test(name)));
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.#folder, path)), { recursive: true });
    writeFileSync(join(this.#folder, path), text);
  }

  append(path: string, text: string): void {
    appendFileSync(join(this.#folder, path), text);
  }

  /** @throws when the text does not occur. */
  replace(path: string, text: string, replacement: string): void {
    const content = readFileSync(join(this.#folder, path), 'utf8');
    if (!content.includes(text)) throw new Error(`${path} does not contain ${text}`);
    this.write(
      path,
      content.replace(text, () => replacement),
    );
  }

  run([command = '', ...args]: readonly string[]): Outcome {
    const { PATH, HOME, VISION_INSTALL } = process.env;
    const path = `${join(this.#folder, 'node_modules/.bin')}:${PATH ?? ''}`;
    const env = { PATH: path, HOME, VISION_INSTALL: VISION_INSTALL ?? 'never' };
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: this.#folder, env, encoding: 'utf8' });
    return { exitCode: status, output: stdout + stderr };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** The links of the workspace are relative, so they lead into the copy; all other packages are those of the tree. */
  #linkPackages(): void {
    const [from, to] = [join(root, 'node_modules'), join(this.#folder, 'node_modules')];
    mkdirSync(to);
    for (const name of readdirSync(from)) if (name !== '@vision') symlinkSync(join(from, name), join(to, name));
    cpSync(join(from, '@vision'), join(to, '@vision'), { recursive: true, verbatimSymlinks: true });
  }
}
